/* device.c - what is made of a device's answers: those of real devices, as their drivers give them, and hostile ones
 * SPDX-License-Identifier: Apache-2.0
 *
 * Works by ld --wrap: clGetDeviceInfo and clGetPlatformInfo answer from a table, and no device is needed. */
#include "config.h"

#include "src/device/device.h"
#include "src/engine/tile.h"
#include "tests/api/neo_papers.h"
#include "tests/lib/tap.h"

#include <stdint.h>

/* ---- Devices on paper ---- */

enum { AXES = 3, SUB_GROUPS = 4 };

/* What the driver says, and what is to be made of it. */
struct paper {
    const char *platform, *platform_version, *vendor, *name, *driver, *version, *c_version, *extensions;
    cl_device_type type;
    cl_ulong local, cache;
    cl_uint width, units, vendor_id, bits;
    size_t group, axes[AXES];
    cl_device_fp_config fp32, fp64;
    int no_doubles; /* the question is not even known */
    size_t sub_groups[SUB_GROUPS];
    cl_uint compute[2]; /* major, minor */
    const char *uuid, *driver_uuid, *board;
    cl_uint wavefront, ip_version;
    struct {
        enum caps_kind kind;
        size_t group;
        int fp64, fma, fma64, sub_group, blocks_2d, nv_cc, first_group;
        cl_uint lanes; /* of a vector, 0: as many as it says */
        const char *identity, *driver;
        const char *tile; /* of f32 d64 with many rows; NULL: not looked at */
    } want;
};

enum { FMA = CL_FP_FMA, FP = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST };

/* One of Intel's GPUs, as the driver told of it without one. */
#define NEO_PAPER(ID, UUID, UNITS, LOCAL, CACHE, GROUP, DOUBLES, IP, LIST, ...)                                        \
    .platform = "Intel(R) OpenCL Graphics", .platform_version = "OpenCL 3.0 ", .vendor = "Intel(R) Corporation",       \
    .name = "Intel(R) Graphics [0x" ID "]", .driver = "26.27.039122", .version = "OpenCL 3.0 NEO ",                    \
    .c_version = "OpenCL C 1.2 ", .extensions = LIST, .type = CL_DEVICE_TYPE_GPU, .local = LOCAL, .cache = CACHE,      \
    .width = 1, .units = UNITS, .vendor_id = 0x8086, .bits = 64, .group = GROUP, .axes = { GROUP, GROUP, GROUP },      \
    .fp32 = FP | FMA, .fp64 = DOUBLES, .sub_groups = { __VA_ARGS__ }, .ip_version = IP,                                \
    .uuid = "\x86\x80" UUID "\0\0\0\0\0\0\0\0\0\0\0", .driver_uuid = "26.27.039122\0\0\0"
#define NEO_WANT(GROUP, DOUBLES, SUB_GROUP, TILE)                                                                      \
    .want = { .kind = CAPS_GPU, .group = GROUP, .fp64 = DOUBLES, .fma = 1, .fma64 = DOUBLES, .sub_group = SUB_GROUP,   \
              .blocks_2d = (SUB_GROUP) == 16, .first_group = 64, .tile = TILE }
#define LARGE "simt tx16,ty8,tm8,tn8,ch8,cv16,qres0"
#define SMALL "simt tx16,ty4,tm4,tn4,ch8,cv4,qres0"

static const struct paper papers[] = {
    { .platform = "AMD Accelerated Parallel Processing", .platform_version = "OpenCL 2.1 AMD-APP (3614.0)",
      .vendor = "Advanced Micro Devices, Inc.", .name = "gfx1100", .driver = "3614.0 (HSA1.1,LC)",
      .version = "OpenCL 2.0 ", .c_version = "OpenCL C 2.0 ",
      .extensions = "cl_khr_fp64 cl_khr_fp16 cl_amd_device_attribute_query cl_khr_subgroups",
      .type = CL_DEVICE_TYPE_GPU, .local = 65536, .cache = 32768, .width = 1, .units = 48, .vendor_id = 0x1002,
      .bits = 64, .group = 256, .axes = { 1024, 1024, 1024 }, .fp32 = FP | FMA, .fp64 = FP | FMA,
      .board = "Radeon RX 7900 XTX", .wavefront = 32,
      .want = { .kind = CAPS_GPU, .group = 256, .fp64 = 1, .fma = 1, .fma64 = 1,
                .identity = "platform=AMD Accelerated Parallel Processing\nvendor=Advanced Micro Devices, Inc.\n"
                            "vendor_id=1002\ndevice=gfx1100\ncompute_units=48\nlocal=65536\ngroup=256\nbits=64\n"
                            " board=526164656f6e20525820373930302058545800 wavefront=20000000\n",
                .driver = "3614.0 (HSA1.1,LC), OpenCL 2.0 , OpenCL C 2.0 , OpenCL 2.1 AMD-APP (3614.0)" } },
    { .platform = "NVIDIA CUDA", .platform_version = "OpenCL 3.0 CUDA 12.4.131", .vendor = "NVIDIA Corporation",
      .name = "NVIDIA H100 80GB HBM3", .driver = "550.54.15", .version = "OpenCL 3.0 CUDA",
      .c_version = "OpenCL C 1.2 ",
      .extensions = "cl_khr_fp64 cl_nv_device_attribute_query cl_khr_device_uuid",
      .type = CL_DEVICE_TYPE_GPU, .local = 49152, .cache = 4325376, .width = 1, .units = 132, .vendor_id = 0x10de,
      .bits = 64, .group = 1024, .axes = { 1024, 1024, 64 }, .fp32 = FP | FMA, .fp64 = FP | FMA, .compute = { 9, 0 },
      .uuid = "0123456789abcdef", .driver_uuid = "fedcba9876543210",
      .want = { .kind = CAPS_GPU, .group = 1024, .fp64 = 1, .fma = 1, .fma64 = 1, .nv_cc = 90,
                .identity = "platform=NVIDIA CUDA\nvendor=NVIDIA Corporation\nvendor_id=10de\n"
                            "device=NVIDIA H100 80GB HBM3\ncompute_units=132\nlocal=49152\ngroup=1024\nbits=64\n"
                            " uuid=30313233343536373839616263646566 compute_major=09000000 "
                            "compute_minor=00000000\n",
                .driver = "550.54.15, OpenCL 3.0 CUDA, OpenCL C 1.2 , OpenCL 3.0 CUDA 12.4.131 "
                          "driver_uuid=66656463626139383736353433323130" } },
    { .platform = "NVIDIA CUDA", .platform_version = "OpenCL 3.0 CUDA 12.2.148", .vendor = "NVIDIA Corporation",
      .name = "Tesla T4", .driver = "535.129.03", .version = "OpenCL 3.0 CUDA", .c_version = "OpenCL C 1.2 ",
      .extensions = "cl_khr_fp64 cl_nv_device_attribute_query", .type = CL_DEVICE_TYPE_GPU, .local = 49152,
      .cache = 1310720, .width = 1, .units = 40, .vendor_id = 0x10de, .bits = 64, .group = 1024,
      .axes = { 1024, 1024, 64 }, .fp32 = FP | FMA, .fp64 = FP | FMA, .compute = { 7, 5 },
      .want = { .kind = CAPS_GPU, .group = 1024, .fp64 = 1, .fma = 1, .fma64 = 1, .nv_cc = 75 } },
    { .platform = "Intel(R) OpenCL Graphics", .platform_version = "OpenCL 3.0 ", .vendor = "Intel(R) Corporation",
      .name = "Intel(R) Arc(TM) A770 Graphics", .driver = "23.43.27642", .version = "OpenCL 3.0 NEO ",
      .c_version = "OpenCL C 1.2 ",
      .extensions = "cl_intel_required_subgroup_size cl_intel_subgroups cl_intel_device_attribute_query "
                    "cl_intel_subgroup_matrix_multiply_accumulate",
      .type = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT, .local = 65536, .cache = 16777216, .width = 1,
      .units = 512, .vendor_id = 0x8086, .bits = 64, .group = 1024, .axes = { 1024, 1024, 1024 }, .fp32 = FP | FMA,
      .sub_groups = { 8, 16, 32 }, .ip_version = 0x030dc008,
      .want = { .kind = CAPS_GPU, .group = 1024, .fma = 1, .sub_group = 8, .first_group = 64,
                .identity = "platform=Intel(R) OpenCL Graphics\nvendor=Intel(R) Corporation\nvendor_id=8086\n"
                            "device=Intel(R) Arc(TM) A770 Graphics\ncompute_units=512\nlocal=65536\ngroup=1024\n"
                            "bits=64\n"
                            " ip_version=08c00d03 sub_groups=080000000000000010000000000000002000000000000000\n",
                .driver = "23.43.27642, OpenCL 3.0 NEO , OpenCL C 1.2 , OpenCL 3.0 " } },
    { .platform = "Intel(R) OpenCL Graphics", .platform_version = "OpenCL 3.0 ", .vendor = "Intel(R) Corporation",
      .name = "Intel(R) Data Center GPU Max 1550", .driver = "23.43.27642", .version = "OpenCL 3.0 NEO ",
      .c_version = "OpenCL C 1.2 ",
      .extensions = "cl_khr_fp64 cl_intel_required_subgroup_size cl_intel_subgroups "
                    "cl_intel_subgroup_matrix_multiply_accumulate",
      .type = CL_DEVICE_TYPE_GPU, .local = 131072, .cache = 213909504, .width = 1, .units = 1024, .vendor_id = 0x8086,
      .bits = 64, .group = 1024, .axes = { 1024, 1024, 1024 }, .fp32 = FP | FMA, .fp64 = FP | FMA,
      .sub_groups = { 32, 16 },
      .want = { .kind = CAPS_GPU, .group = 1024, .fp64 = 1, .fma = 1, .fma64 = 1, .sub_group = 16,
                .first_group = 64 } },
    { .platform = "Intel(R) OpenCL HD Graphics", .platform_version = "OpenCL 3.0 ", .vendor = "Intel(R) Corporation",
      .name = "Intel(R) UHD Graphics 630", .driver = "22.14.22890", .version = "OpenCL 3.0 NEO ",
      .c_version = "OpenCL C 3.0 ",
      .extensions = "cl_khr_fp64 cl_intel_required_subgroup_size cl_intel_subgroups",
      .type = CL_DEVICE_TYPE_GPU, .local = 65536, .cache = 524288, .width = 1, .units = 24, .vendor_id = 0x8086,
      .bits = 64, .group = 256, .axes = { 256, 256, 256 }, .fp32 = FP | FMA, .fp64 = FP, .sub_groups = { 8, 16, 32 },
      .want = { .kind = CAPS_GPU, .group = 256, .fp64 = 1, .fma = 1, .first_group = 64 } },
    { .platform = "QUALCOMM Snapdragon(TM)", .platform_version = "OpenCL 2.0 QUALCOMM build: commit #5e8d2a1",
      .vendor = "QUALCOMM", .name = "QUALCOMM Adreno(TM)",
      .driver = "OpenCL 2.0 QUALCOMM build: commit #5e8d2a1 Compiler E031.40",
      .version = "OpenCL 2.0 Adreno(TM) 660", .c_version = "OpenCL C 2.0 Adreno",
      .extensions = "cl_khr_fp16 cl_qcom_ext_host_ptr", .type = CL_DEVICE_TYPE_GPU, .local = 32768, .cache = 131072,
      .width = 1, .units = 3, .vendor_id = 0x5143, .bits = 64, .group = 1024, .axes = { 1024, 1024, 1024 },
      .fp32 = FP, .no_doubles = 1,
      .want = { .kind = CAPS_GPU, .group = 1024, .first_group = 64 } },
    { .platform = "ARM Platform", .platform_version = "OpenCL 3.0 v1.r38p1", .vendor = "ARM", .name = "Mali-G78 r0p1",
      .driver = "3.0", .version = "OpenCL 3.0 v1.r38p1", .c_version = "OpenCL C 3.0 v1.r38",
      .extensions = "cl_khr_fp16 cl_arm_core_id", .type = CL_DEVICE_TYPE_GPU, .local = 32768, .cache = 524288,
      .width = 4, .units = 20, .vendor_id = 0x92020011, .bits = 64, .group = 512, .axes = { 384, 384, 384 },
      .fp32 = FP | FMA,
      .want = { .kind = CAPS_GPU, .group = 384, .fma = 1, .first_group = 64 } },
    { .platform = "Apple", .platform_version = "OpenCL 1.2 (Dec 16 2023 02:41:02)", .vendor = "Apple",
      .name = "Apple M1", .driver = "1.2 1.0", .version = "OpenCL 1.2 ", .c_version = "OpenCL C 1.2 ",
      .extensions = "cl_APPLE_SetMemObjectDestructor cl_khr_byte_addressable_store",
      .type = CL_DEVICE_TYPE_GPU, .local = 32768, .width = 1, .units = 8, .vendor_id = 0x1027f00, .bits = 64,
      .group = 256, .axes = { 256, 256, 256 }, .fp32 = FP,
      .want = { .kind = CAPS_GPU, .group = 256, .first_group = 64 } },
    { .platform = "Apple", .platform_version = "OpenCL 1.2 (Apr 25 2013 18:32:01)", .vendor = "Intel",
      .name = "Intel(R) Core(TM) i7-3615QM CPU @ 2.30GHz", .driver = "1.1", .version = "OpenCL 1.2 ",
      .c_version = "OpenCL C 1.2 ", .extensions = "cl_khr_fp64", .type = CL_DEVICE_TYPE_CPU, .local = 32768,
      .cache = 64, .width = 4, .units = 8, .vendor_id = 0xffffffff, .bits = 64, .group = 1024, .axes = { 1, 1, 1 },
      .fp32 = FP | FMA, .fp64 = FP | FMA,
      .want = { .kind = CAPS_CPU, .group = 1, .fp64 = 1, .first_group = 64 } },
    /* of a CPU neither sub-groups nor a compute capability are asked for, whatever it says that it has */
    { .platform = "Portable Computing Language", .platform_version = "OpenCL 3.0 PoCL 6.0", .vendor = "GenuineIntel",
      .name = "cpu-skylake-avx512-Xeon", .driver = "6.0", .version = "OpenCL 3.0 PoCL HSTR: cpu",
      .c_version = "OpenCL C 1.2 PoCL",
      .extensions = "cl_khr_fp64 cl_khr_device_uuid cl_intel_required_subgroup_size cl_intel_subgroups "
                    "cl_intel_subgroup_matrix_multiply_accumulate cl_nv_device_attribute_query",
      .type = CL_DEVICE_TYPE_CPU, .local = 524288, .cache = 33554432, .width = 16, .units = 2,
      .vendor_id = 0x6c636f70, .bits = 64, .group = 4096, .axes = { 4096, 4096, 4096 }, .fp32 = FP | FMA,
      .fp64 = FP | FMA, .sub_groups = { 8, 16 }, .compute = { 8, 0 }, .uuid = "0123456789abcdef",
      .driver_uuid = "fedcba9876543210",
      .want = { .kind = CAPS_CPU, .group = 4096, .fp64 = 1,
                .identity = "platform=Portable Computing Language\nvendor=GenuineIntel\nvendor_id=6c636f70\n"
                            "device=cpu-skylake-avx512-Xeon\ncompute_units=2\nlocal=524288\ngroup=4096\nbits=64\n"
                            " uuid=30313233343536373839616263646566 compute_major=08000000 "
                            "compute_minor=00000000 sub_groups=08000000000000001000000000000000\n",
                .driver = "6.0, OpenCL 3.0 PoCL HSTR: cpu, OpenCL C 1.2 PoCL, OpenCL 3.0 PoCL 6.0 "
                          "driver_uuid=66656463626139383736353433323130" } },
    { .platform = "Intel(R) FPGA SDK for OpenCL(TM)", .platform_version = "OpenCL 1.0",
      .vendor = "Intel(R) Corporation", .name = "a10gx", .driver = "19.4", .version = "OpenCL 1.0",
      .c_version = "OpenCL C 1.0", .extensions = "", .type = CL_DEVICE_TYPE_ACCELERATOR, .local = 16384,
      .cache = 32768, .width = 1, .units = 1, .vendor_id = 0x1172, .bits = 64, .group = 2147483647,
      .axes = { 2147483647, 2147483647, 2147483647 }, .fp32 = FP | FMA, .fp64 = FP | FMA,
      .want = { .kind = CAPS_ACCELERATOR, .group = 2147483647, .fp64 = 1 } },
    { NEO_PAPER("e20b", "\x0b\xe2\0", 160, 131072, 1024, 1024, FP | FMA, 0x05004000, NEO_XE2, 16, 32), /* bmg */
      NEO_WANT(1024, 1, 16, LARGE) },
    { NEO_PAPER("56a0", "\xa0\x56\x08", 512, 65536, 1024, 1024, 0, 0x030dc008, NEO_DG2, 8, 16, 32), /* dg2 */
      NEO_WANT(1024, 0, 8, LARGE) },
    { NEO_PAPER("0bd5", "\xd5\x0b\x07", 512, 131072, 1024, 1024, FP | FMA, 0x030f0007, NEO_PVC, 16, 32), /* pvc */
      NEO_WANT(1024, 1, 16, LARGE) },
    { NEO_PAPER("64a0", "\xa0\x64\x04", 64, 131072, 1024, 1024, FP | FMA, 0x05010004, NEO_XE2, 16, 32), /* lnl */
      NEO_WANT(1024, 1, 16, LARGE) },
    { NEO_PAPER("b080", "\x80\xb0\x04", 96, 131072, 1024, 1024, FP | FMA, 0x07800004, NEO_XE2, 16, 32), /* ptl */
      NEO_WANT(1024, 1, 16, LARGE) },
    { NEO_PAPER("7d51", "\x51\x7d\0", 128, 65536, 1024, 1024, FP | FMA, 0x03128004, NEO_ARL, 8, 16, 32), /* arl-h */
      NEO_WANT(1024, 1, 8, LARGE) },
    { NEO_PAPER("7d55", "\x55\x7d\0", 128, 65536, 1024, 1024, FP | FMA, 0x03118004, NEO_MTL, 8, 16, 32), /* mtl */
      NEO_WANT(1024, 1, 0, SMALL) },
    { NEO_PAPER("46a6", "\xa6\x46\0", 96, 65536, 1024, 512, 0, 0x0300c000, NEO_XELP, 8, 16, 32), /* adlp */
      NEO_WANT(512, 0, 0, SMALL) },
    { NEO_PAPER("9a49", "\x49\x9a\0", 96, 65536, 3932160, 512, 0, 0x03000000, NEO_XELP, 8, 16, 32), /* tgllp */
      NEO_WANT(512, 0, 0, SMALL) },
    /* told to compile for a CPU with narrower vectors than it states */
    { .platform = "Portable Computing Language", .platform_version = "OpenCL 3.0 PoCL 3.1", .vendor = "GenuineIntel",
      .name = "pthread-haswell-Xeon", .driver = "3.1", .version = "OpenCL 3.0 pocl HSTR: pthread",
      .c_version = "OpenCL C 1.2 pocl", .extensions = "cl_khr_fp64", .type = CL_DEVICE_TYPE_CPU, .local = 524288,
      .cache = 33554432, .width = 16, .units = 2, .vendor_id = 0x8086, .bits = 64, .group = 4096,
      .axes = { 4096, 4096, 4096 }, .fp32 = FP | FMA, .fp64 = FP | FMA,
      .want = { .kind = CAPS_CPU, .group = 4096, .fp64 = 1, .lanes = 8 } },
};
enum { PAPERS = sizeof papers / sizeof *papers, AMD = 0, H100 = 1, ARC = 3 };

/* ---- A driver that reads them out ---- */

/* One question that is answered otherwise. */
struct twist {
    cl_uint what;
    cl_int status; /* the answer; 0: bytes */
    const void *bytes;
    size_t n;       /* how many it says that there are */
    size_t written; /* how many it writes, where there is room for n */
    int careless;   /* it does not look whether there is */
};

static struct twist fails(cl_uint what, cl_int status)
{
    return (struct twist){ .what = what, .status = status };
}

/* So many bytes, all of which it writes. */
static struct twist says(cl_uint what, const void *bytes, size_t n)
{
    return (struct twist){ .what = what, .bytes = bytes, .n = n, .written = n };
}

static const struct paper *on; /* the device */
static const struct twist *twist;
static cl_bool available = CL_TRUE, compiler = CL_TRUE, little = CL_TRUE;
static cl_uint asked[64]; /* in this order */
static int n_asked;

static cl_int reply(const void *bytes, size_t n, size_t written, size_t room, void *to, size_t *got)
{
    if (to && room < n)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, bytes, written);
    if (got)
        *got = n;
    return CL_SUCCESS;
}

/* Whether it is the question of the twist, whose answer is in *status. */
static int is_twisted(cl_uint what, size_t room, void *to, size_t *got, cl_int *status)
{
    if (n_asked < (int)(sizeof asked / sizeof *asked))
        asked[n_asked++] = what;
    if (!twist || twist->what != what)
        return 0;
    if (twist->status && got)
        *got = twist->n;
    *status = twist->status     ? twist->status
              : twist->careless ? reply(twist->bytes, twist->n, twist->written, twist->n, to, got)
                                : reply(twist->bytes, twist->n, twist->written, room, to, got);
    return 1;
}

/* clang-format off */
#define VALUE(what, x) case what: return reply(&(x), sizeof(x), sizeof(x), room, to, got)
#define WORDS(what, x) case what: return reply(x, strlen(x) + 1, strlen(x) + 1, room, to, got)
#define FACT(what, has, x, n) case what: return has ? reply(x, n, n, room, to, got) : CL_INVALID_VALUE
/* clang-format on */

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *got);
cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *got)
{
    const cl_platform_id platform = (cl_platform_id)&papers[0];
    static const cl_uint dimensions = AXES;
    cl_int status;
    size_t groups = 0;
    if (device != (cl_device_id)on)
        return CL_INVALID_DEVICE;
    if (is_twisted(what, room, to, got, &status))
        return status;
    while (groups < SUB_GROUPS && on->sub_groups[groups])
        groups++;
    switch (what) {
        VALUE(CL_DEVICE_TYPE, on->type);
        VALUE(CL_DEVICE_LOCAL_MEM_SIZE, on->local);
        VALUE(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, on->width);
        VALUE(CL_DEVICE_AVAILABLE, available);
        VALUE(CL_DEVICE_COMPILER_AVAILABLE, compiler);
        VALUE(CL_DEVICE_ENDIAN_LITTLE, little);
        VALUE(CL_DEVICE_MAX_COMPUTE_UNITS, on->units);
        VALUE(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, on->cache);
        VALUE(CL_DEVICE_PLATFORM, platform);
        VALUE(CL_DEVICE_SINGLE_FP_CONFIG, on->fp32);
        VALUE(CL_DEVICE_MAX_WORK_GROUP_SIZE, on->group);
        VALUE(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, dimensions);
        VALUE(CL_DEVICE_MAX_WORK_ITEM_SIZES, on->axes);
        VALUE(CL_DEVICE_VENDOR_ID, on->vendor_id);
        VALUE(CL_DEVICE_ADDRESS_BITS, on->bits);
        WORDS(CL_DEVICE_NAME, on->name);
        WORDS(CL_DEVICE_VENDOR, on->vendor);
        WORDS(CL_DRIVER_VERSION, on->driver);
        WORDS(CL_DEVICE_VERSION, on->version);
        WORDS(CL_DEVICE_OPENCL_C_VERSION, on->c_version);
        WORDS(CL_DEVICE_EXTENSIONS, on->extensions);
        FACT(CL_DEVICE_DOUBLE_FP_CONFIG, !on->no_doubles, &on->fp64, sizeof on->fp64);
        FACT(0x4108, groups, on->sub_groups, groups * sizeof *on->sub_groups);
        FACT(0x4000, on->compute[0], &on->compute[0], sizeof *on->compute);
        FACT(0x4001, on->compute[0], &on->compute[1], sizeof *on->compute);
        FACT(0x106A, on->uuid, on->uuid, 16);
        FACT(0x106B, on->driver_uuid, on->driver_uuid, 16);
        FACT(0x4038, on->board, on->board, strlen(on->board) + 1);
        FACT(0x4043, on->wavefront, &on->wavefront, sizeof on->wavefront);
        FACT(0x4250, on->ip_version, &on->ip_version, sizeof on->ip_version);
    default: return CL_INVALID_VALUE;
    }
}

cl_int __wrap_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *got);
cl_int __wrap_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *got)
{
    cl_int status;
    if (platform != (cl_platform_id)&papers[0])
        return CL_INVALID_PLATFORM;
    if (is_twisted(what, room, to, got, &status))
        return status;
    switch (what) {
        WORDS(CL_PLATFORM_NAME, on->platform);
        WORDS(CL_PLATFORM_VERSION, on->platform_version);
    default: return CL_INVALID_VALUE;
    }
}

static struct why why;

/* What is made of a device whose driver has a twist, or NULL. */
static cl_int ask(struct caps *caps, const struct paper *device, const struct twist *with)
{
    on = device;
    twist = with;
    n_asked = 0;
    why.text[0] = '\0';
    memset(caps, 0xa5, sizeof *caps);
    return device_caps(caps, (cl_device_id)device, &why);
}

/* What a device says is kept as hex, byte by byte, and so by the order of this machine's bytes and the size of its
 * size_t. The tables have those of x86-64. */
static const char *as_here(const char *text)
{
    static char to[1024];
    static const struct {
        const char *name;
        size_t there, here; /* bytes of a number */
    } facts[] = { { " wavefront=", 4, 4 }, { "compute_major=", 4, 4 }, { "compute_minor=", 4, 4 },
                  { " ip_version=", 4, 4 }, { " sub_groups=", 8, sizeof(size_t) } }; /* in their order in texts */
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one;
    snprintf(to, sizeof to, "%s", text);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char *out = strstr(to, facts[i].name);
        if (!out)
            continue;
        out += strlen(facts[i].name);
        const char *in = strstr(text, facts[i].name) + strlen(facts[i].name);
        for (; strspn(in, "0123456789abcdef") >= 2 * facts[i].there; in += 2 * facts[i].there)
            for (size_t k = 0; k < facts[i].here; k++, out += 2)
                memcpy(out, in + 2 * (little ? k : facts[i].here - 1 - k), 2);
        snprintf(out, sizeof to - (size_t)(out - to), "%s", in);
    }
    return to;
}

/* ---- Devices that there are ---- */

static void test_tile(const struct caps *caps, const char *wanted)
{
    clattn_problem p = CLATTN_PROBLEM_INIT, in = CLATTN_PROBLEM_INIT;
    struct config c;
    char text[128] = "";
    struct text to = { text, sizeof text, 0 };
    in.type = CLATTN_F32, in.d = in.dv = 64;
    in.sizes.b = in.sizes.h = 1, in.sizes.nq = in.sizes.nk = 1000;
    if (problem_read(&p, &in, &why))
        bail("%s", why.text);
    if (tile_config_at(&c, caps, &p, NULL, 0))
        tile_config_print(&c, &to);
    is_str(text, wanted, "the tile to begin with");
}

static void test_device(const struct paper *p)
{
    struct caps c;
    if (!is_int(ask(&c, p, NULL), CL_SUCCESS, "%s / %s", p->platform, p->name)) {
        diag("%s", why.text);
        return;
    }
    ok(!strcmp(c.platform, p->platform) && !strcmp(c.device, p->name) && c.quirk == caps_quirk(p->platform),
       "its names");
    is_int(c.kind, p->want.kind, "its kind");
    ok(c.local_bytes == p->local && c.cache_bytes == p->cache, "local memory of %llu bytes, cache of %llu",
       (unsigned long long)c.local_bytes, (unsigned long long)c.cache_bytes);
    is_int((long long)c.max_group, (long long)p->want.group, "items of a group");
    ok(c.float_width == (p->want.lanes ? p->want.lanes : p->width) && c.compute_units == p->units,
       "vectors of %u, %u compute units", c.float_width, c.compute_units);
    ok(c.fp64 == p->want.fp64 && c.fma == p->want.fma && c.fma64 == p->want.fma64, "doubles %d, fma %d, of doubles %d",
       c.fp64, c.fma, c.fma64);
    is_int(c.sub_group, p->want.sub_group, "items of a sub-group to ask for");
    is_int(c.blocks_2d, p->want.blocks_2d, "blocks of two dimensions");
    is_int(c.nv_cc, p->want.nv_cc, "compute capability");
    is_int(c.selftest[0], CAPS_UNTESTED, "engines untested");
    is_int(c.quirk->first_group, p->want.first_group, "the groups to begin with");
    if (p->want.identity)
        is_str(c.identity, as_here(p->want.identity), "who it is");
    if (p->want.driver)
        is_str(c.driver, p->want.driver, "which driver");
    if (p->want.tile)
        test_tile(&c, p->want.tile);
}

/* What only some have is asked of those alone: a question from an extension's range may mean anything elsewhere. */
static void test_modest(void)
{
    struct caps c;
    int odd = 0;
    ask(&c, &papers[PAPERS - 1], NULL);
    for (int i = 0; i < n_asked; i++)
        odd += asked[i] >= 0x4000 || asked[i] == 0x106A || asked[i] == 0x106B;
    is_int(odd, 0, "without extensions, no question of one among %d", n_asked);
}

static void test_refused(void)
{
    struct caps c;
    static const struct {
        cl_bool *flag;
        cl_int status;
        const char *words;
    } rows[] = { { &available, CL_DEVICE_NOT_AVAILABLE, "Tesla T4 is not available" },
                 { &compiler, CL_COMPILER_NOT_AVAILABLE, "Tesla T4 has no compiler for OpenCL C" },
                 { &little, CLATTN_ERROR_NOT_SUPPORTED, "Tesla T4 is big-endian" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i].flag = CL_FALSE;
        is_int(ask(&c, &papers[2], NULL), rows[i].status, "%s", rows[i].words);
        is_str(why.text, rows[i].words, "with these words");
        *rows[i].flag = CL_TRUE;
    }
}

/* ---- Hostile answers ---- */

#define NAMED(what)                                                                                                    \
    {                                                                                                                  \
        what, #what                                                                                                    \
    }
static const struct {
    cl_uint what;
    const char *name;
} needed[] = { NAMED(CL_DEVICE_TYPE),
               NAMED(CL_DEVICE_LOCAL_MEM_SIZE),
               NAMED(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
               NAMED(CL_DEVICE_AVAILABLE),
               NAMED(CL_DEVICE_COMPILER_AVAILABLE),
               NAMED(CL_DEVICE_ENDIAN_LITTLE),
               NAMED(CL_DEVICE_MAX_COMPUTE_UNITS),
               NAMED(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
               NAMED(CL_DEVICE_PLATFORM),
               NAMED(CL_DEVICE_SINGLE_FP_CONFIG),
               NAMED(CL_DEVICE_MAX_WORK_GROUP_SIZE),
               NAMED(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS),
               NAMED(CL_DEVICE_VENDOR_ID),
               NAMED(CL_DEVICE_ADDRESS_BITS),
               /* of any length from here on */
               NAMED(CL_DEVICE_MAX_WORK_ITEM_SIZES),
               { CL_DEVICE_NAME, "" },
               { CL_DEVICE_VENDOR, "" },
               { CL_DRIVER_VERSION, "" },
               { CL_DEVICE_VERSION, "" },
               { CL_DEVICE_OPENCL_C_VERSION, "" },
               { CL_PLATFORM_NAME, "" },
               { CL_PLATFORM_VERSION, "" } };
enum { NEEDED = sizeof needed / sizeof *needed, SIZED = 14 };

static const cl_uint optional[] = {
    CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_EXTENSIONS, 0x4108, 0x4000, 0x4001, 0x106A, 0x106B, 0x4038, 0x4043, 0x4250
};
enum { OPTIONAL = sizeof optional / sizeof *optional };

static void test_errors(void)
{
    struct caps c;
    for (int i = 0; i < NEEDED; i++) {
        const struct twist none = fails(needed[i].what, CL_OUT_OF_RESOURCES);
        is_int(ask(&c, &papers[H100], &none), CL_OUT_OF_RESOURCES, "question %#x fails: %s", (unsigned)needed[i].what,
               why.text);
        ok(*why.text && strstr(why.text, needed[i].name) != NULL, "which is told");
    }
    for (int i = 0; i < SIZED; i++) {
        static const unsigned char bytes[64] = { 1 };
        const struct twist shorter = says(needed[i].what, bytes, 1), none = says(needed[i].what, bytes, 0),
                           longer = says(needed[i].what, bytes, 64);
        const cl_int e = ask(&c, &papers[H100], &shorter);
        ok(e == CL_INVALID_DEVICE && strstr(why.text, needed[i].name), "%s in a single byte: %s", needed[i].name,
           why.text);
        is_int(ask(&c, &papers[H100], &none), CL_INVALID_DEVICE, "in no byte");
        for (size_t n = 4; n <= 8; n += 4) {
            struct twist sized = fails(needed[i].what, CL_OUT_OF_RESOURCES);
            sized.n = n;
            is_int(ask(&c, &papers[H100], &sized), CL_OUT_OF_RESOURCES, "a failure with %zu bytes", n);
        }
        is_int(ask(&c, &papers[H100], &longer), CL_INVALID_VALUE, "in more than there is room for");
    }
    for (int i = 0; i < OPTIONAL; i++)
        for (int k = 0; k < PAPERS; k++) {
            const struct twist none = fails(optional[i], CL_OUT_OF_RESOURCES);
            if (ask(&c, &papers[k], &none))
                ok(0, "%s does without question %#x: %s", papers[k].name, (unsigned)optional[i], why.text);
        }
    ok(1, "devices do without %d optional questions", OPTIONAL);
}

/* What there is in place of an optional answer. */
static void test_without(void)
{
    const struct twist no_doubles = fails(CL_DEVICE_DOUBLE_FP_CONFIG, CL_INVALID_VALUE),
                       no_extensions = fails(CL_DEVICE_EXTENSIONS, CL_INVALID_VALUE),
                       no_major = fails(0x4000, CL_INVALID_VALUE), no_minor = fails(0x4001, CL_INVALID_VALUE),
                       no_uuid = fails(0x106A, CL_INVALID_VALUE), no_driver_uuid = fails(0x106B, CL_INVALID_VALUE),
                       no_sub_groups = fails(0x4108, CL_INVALID_VALUE);
    struct caps c;
    ok(!ask(&c, &papers[H100], &no_doubles) && !c.fp64 && c.fma && !c.fma64, "no answer about doubles: none");
    const struct twist no_bytes = { .what = CL_DEVICE_DOUBLE_FP_CONFIG, .n = 8 };
    ok(!ask(&c, &papers[H100], &no_bytes) && !c.fp64 && !c.fma64, "nor an answer without bytes");
    ok(!ask(&c, &papers[H100], &no_extensions) && !c.nv_cc && !strstr(c.identity, "uuid") && !strstr(c.driver, "uuid"),
       "no list of extensions: none");
    ok(!ask(&c, &papers[H100], &no_major) && !c.nv_cc && !strstr(c.identity, "major") && strstr(c.identity, "uuid="),
       "no compute capability: none");
    ok(!ask(&c, &papers[H100], &no_minor) && !c.nv_cc && !strstr(c.identity, "minor"), "nor half of one");
    ok(!ask(&c, &papers[H100], &no_uuid) && !strstr(c.identity, "uuid") && strstr(c.driver, "driver_uuid=66"),
       "no identifier of the device");
    ok(!ask(&c, &papers[H100], &no_driver_uuid) && !strstr(c.driver, "uuid") && strstr(c.identity, "uuid=30"),
       "or of the driver");
    ok(!ask(&c, &papers[ARC], &no_sub_groups) && !c.sub_group && !strstr(c.identity, "sub_groups"), "no sub-groups");
}

/* ---- Texts ---- */

static char text[2048];

/* `n` bytes of `byte`, of which so many are written and the last is a NUL where `ended`. */
static struct twist words(cl_uint what, char byte, size_t n, size_t written, int ended)
{
    memset(text, byte, sizeof text);
    if (ended)
        text[written - 1] = '\0';
    return (struct twist){ .what = what, .bytes = text, .n = n, .written = written };
}

static void test_texts(void)
{
    struct caps c;
    struct twist t = words(CL_DEVICE_NAME, 'x', 300, 300, 1);
    is_int(ask(&c, &papers[H100], &t), CL_SUCCESS, "a name of 300 bytes");
    is_int((long long)strlen(c.device), sizeof c.device - 1, "is cut");
    t = words(CL_DEVICE_NAME, 'x', 1024, 1024, 1);
    ok(!ask(&c, &papers[H100], &t) && strlen(c.device) == sizeof c.device - 1, "one of 1024 bytes too");
    t = words(CL_DEVICE_NAME, 'x', 1025, 1025, 1);
    ok(!ask(&c, &papers[H100], &t) && !*c.device, "one of 1025 is left out");
    t = words(CL_DEVICE_NAME, 'x', (size_t)-1, 0, 0);
    ok(!ask(&c, &papers[H100], &t) && !*c.device, "as is one of all of memory");
    t = words(CL_DEVICE_NAME, 'x', 0, 0, 0);
    ok(!ask(&c, &papers[H100], &t) && !*c.device, "and none at all");
    t = words(CL_DEVICE_NAME, 'x', 1, 1, 1);
    ok(!ask(&c, &papers[H100], &t) && !*c.device, "an empty one");
    t = words(CL_DEVICE_NAME, 'x', 20, 20, 0);
    ok(!ask(&c, &papers[H100], &t) && strlen(c.device) == 19, "one without an end: %s", c.device);
    t = words(CL_DEVICE_NAME, 'x', 20, 0, 0);
    ok(!ask(&c, &papers[H100], &t) && !*c.device, "one that was promised and not written");
    t = words(CL_PLATFORM_NAME, 'x', 1024, 1024, 0);
    ok(!ask(&c, &papers[H100], &t) && strlen(c.platform) == sizeof c.platform - 1, "a platform without an end");
    t = words(CL_PLATFORM_NAME, 'x', 8, 0, 0);
    ok(!ask(&c, &papers[H100], &t) && !*c.platform && c.quirk == caps_quirk(""), "one that is not written");
    t = words(CL_PLATFORM_NAME, 'x', 1025, 1025, 1);
    ok(ask(&c, &papers[H100], &t) == CL_INVALID_VALUE && !strncmp(why.text, "clGetPlatformInfo", 17),
       "one that is too long to be had: %s", why.text);
    t = words(CL_DRIVER_VERSION, '\n', 3, 3, 1);
    ok(!ask(&c, &papers[H100], &t) && !strncmp(c.driver, "??, OpenCL 3.0 CUDA, ", 21), "a driver is one line: %s",
       c.driver);
    t = words(CL_DRIVER_VERSION, '\x7f', 3, 3, 1);
    ok(!ask(&c, &papers[H100], &t) && !strncmp(c.driver, "??, ", 4), "without control bytes");
    t = words(CL_DRIVER_VERSION, '\xe4', 3, 3, 1);
    ok(!ask(&c, &papers[H100], &t) && !strncmp(c.driver, "??, ", 4), "in ASCII");
    t = words(CL_DRIVER_VERSION, '~', 3, 3, 1);
    ok(!ask(&c, &papers[H100], &t) && !strncmp(c.driver, "~~, ", 4), "up to its last letter");
}

static void test_extensions(void)
{
    static char list[20000];
    static const char nv[] = "cl_nv_device_attribute_query cl_khr_device_uuid";
    struct twist t = says(CL_DEVICE_EXTENSIONS, list, 16384);
    struct caps c;
    memset(list, 'x', sizeof list);
    memcpy(list, nv, sizeof nv - 1);
    ok(!ask(&c, &papers[H100], &t) && c.nv_cc == 90, "a list of extensions of 16384 bytes without an end");
    t.n = t.written = 16385;
    ok(!ask(&c, &papers[H100], &t) && !c.nv_cc, "one byte more is not had");
    t.n = t.written = 0;
    ok(!ask(&c, &papers[H100], &t) && !c.nv_cc, "nor nothing");
    /* an extension alone does not do: all three are needed for sub-groups */
    t.bytes = "cl_intel_required_subgroup_size cl_intel_subgroups";
    t.n = t.written = strlen(t.bytes) + 1;
    ok(!ask(&c, &papers[ARC], &t) && !c.sub_group && strstr(c.identity, "sub_groups="), "two of three extensions");
    t.bytes = "cl_intel_required_subgroup_size cl_intel_subgroup_matrix_multiply_accumulate";
    t.n = t.written = strlen(t.bytes) + 1;
    ok(!ask(&c, &papers[ARC], &t) && !c.sub_group, "another two");
    t.bytes = "cl_intel_subgroups cl_intel_subgroup_matrix_multiply_accumulate";
    t.n = t.written = strlen(t.bytes) + 1;
    ok(!ask(&c, &papers[ARC], &t) && !c.sub_group && !strstr(c.identity, "sub_groups="), "and the last");
}

/* ---- Numbers ---- */

static void test_sub_groups(void)
{
    static const struct {
        size_t sizes[17], n, claimed; /* bytes, of sizes and as it says */
        int want;
    } rows[] = { { { 8 }, 1, 0, 8 },
                 { { 16 }, 1, 0, 16 },
                 { { 32 }, 1, 0, 0 },
                 { { 16, 8 }, 2, 0, 8 },
                 { { 8, 16 }, 2, 0, 8 },
                 { { 4, 7, 9, 15, 17 }, 5, 0, 0 },
                 { { 0, (size_t)-1, (SIZE_MAX ^ SIZE_MAX >> 1) + 8 }, 3, 0, 0 },
                 { { 1, 2, 3, 4, 5, 6, 7, 32, 9, 10, 11, 12, 13, 14, 15, 16 }, 16, 0, 16 },
                 { { 0 }, 0, 0, 0 },
                 { { 8 }, 1, 16, 8 },
                 { { 8, 16 }, 17, 0, 0 } };
    struct caps c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct twist t = says(0x4108, rows[i].sizes, rows[i].n * sizeof(size_t));
        t.n = rows[i].claimed ? rows[i].claimed * sizeof(size_t) : t.n;
        is_int(ask(&c, &papers[ARC], &t), CL_SUCCESS, "%zu sizes of sub-groups, the first %zu", rows[i].n,
               rows[i].sizes[0]);
        is_int(c.sub_group, rows[i].want, "of which is used");
    }
    struct twist lies = says(0x4108, rows[0].sizes, sizeof(size_t));
    lies.n = 17 * sizeof(size_t);
    lies.careless = 1;
    ok(!ask(&c, &papers[ARC], &lies) && !c.sub_group, "a driver that says to have written more than there is room for");
}

static void test_compute_capability(void)
{
    static const struct {
        cl_uint what, value;
        int want;
    } rows[] = { { 0x4000, 99, 990 }, { 0x4000, 100, 0 }, { 0x4000, 0xffffffff, 0 }, { 0x4000, 0, 0 },
                 { 0x4001, 9, 99 },   { 0x4001, 10, 0 },  { 0x4001, 0xffffffff, 0 } };
    struct caps c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct twist t = says(rows[i].what, &rows[i].value, sizeof rows[i].value);
        const cl_int e = ask(&c, &papers[H100], &t);
        ok(!e && c.nv_cc == rows[i].want, "a %s number of %u: %d", rows[i].what == 0x4000 ? "major" : "minor",
           (unsigned)rows[i].value, c.nv_cc);
    }
}

static void test_axes(void)
{
    static const size_t axes[3] = { 40, 2, 2 };
    struct caps c;
    for (cl_uint n = 0; n <= 17; n++) {
        const struct twist t = says(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, &n, sizeof n);
        const cl_int e = ask(&c, &papers[H100], &t);
        if (n == 3)
            ok(!e && c.max_group == 1024, "three axes");
        else if (n > 16)
            ok(e == CL_INVALID_DEVICE && strstr(why.text, "DIMENSIONS"), "%u axes are too many: %s", (unsigned)n,
               why.text);
        else if (n < 3)
            ok(e == CL_INVALID_VALUE && strstr(why.text, "SIZES"), "%u axes are too few for the sizes: %s", (unsigned)n,
               why.text);
        else
            ok(!e && c.max_group == 1024, "%u axes, three sizes", (unsigned)n);
    }
    const struct twist shorter = says(CL_DEVICE_MAX_WORK_ITEM_SIZES, axes, 3 * sizeof *axes);
    struct twist none = shorter;
    none.written = 0;
    ok(!ask(&c, &papers[H100], &shorter) && c.max_group == 40, "the first axis bounds a group");
    ok(!ask(&c, &papers[H100], &none) && !c.max_group, "where it is not told, no group has items");
}

/* More than can be: whatever is made of it, it is no negative number to anybody, and not too little. */
static void test_absurd(void)
{
    static const cl_ulong all = ~(cl_ulong)0;
    static const struct {
        cl_uint what;
        size_t n;
    } rows[] = { { CL_DEVICE_LOCAL_MEM_SIZE, 8 },
                 { CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t) },
                 { CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(size_t) },
                 { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4 },
                 { CL_DEVICE_MAX_COMPUTE_UNITS, 4 },
                 { CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8 },
                 { CL_DEVICE_TYPE, 8 },
                 { CL_DEVICE_SINGLE_FP_CONFIG, 8 },
                 { CL_DEVICE_DOUBLE_FP_CONFIG, 8 } };
    struct paper large = papers[H100];
    struct caps c;
    large.group = (size_t)-1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct twist t = says(rows[i].what, &all, rows[i].n);
        is_int(ask(&c, &large, &t), CL_SUCCESS, "question %#x: as much as can be said", (unsigned)rows[i].what);
        ok(c.local_bytes >= 49152 && c.local_bytes <= INT32_MAX && c.max_group >= 1024 && c.max_group <= INT32_MAX &&
               c.float_width >= 1 && c.float_width <= 16 && c.compute_units > 0,
           "local memory %lld, group %lld, vectors %d", (long long)c.local_bytes, (long long)c.max_group,
           (int)c.float_width);
    }
}

/* Facts that fill what there is room for. */
static void test_crowd(void)
{
    static unsigned char many[129];
    struct twist t = says(0x4038, many, 128);
    struct caps c;
    memset(many, 0xee, sizeof many);
    ok(!ask(&c, &papers[AMD], &t) && strstr(c.identity, " board=eeee") &&
           strstr(c.identity, as_here("ee wavefront=20000000")),
       "a fact of 128 bytes");
    t.n = t.written = 129;
    ok(!ask(&c, &papers[AMD], &t) && !strstr(c.identity, "board") &&
           strstr(c.identity, as_here(" wavefront=20000000")),
       "one of 129 is left out");
    t.n = t.written = 0;
    ok(!ask(&c, &papers[AMD], &t) && !strstr(c.identity, "board"), "and one of none");
    t.n = 4;
    ok(!ask(&c, &papers[AMD], &t) && strstr(c.identity, " board=00000000 "), "one that was promised and not written");
}

int main(void)
{
    for (int i = 0; i < PAPERS; i++)
        test_device(&papers[i]);
    test_modest();
    test_refused();
    test_errors();
    test_without();
    test_texts();
    test_extensions();
    test_sub_groups();
    test_compute_capability();
    test_axes();
    test_absurd();
    test_crowd();
    return done_testing();
}
