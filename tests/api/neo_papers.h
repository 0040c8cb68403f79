/* neo_papers.h - what Intel's OpenCL driver 26.27 lists for nine products, word for word, as it told them without a GPU
 * SPDX-License-Identifier: Apache-2.0
 *
 * By offline/compilers/neo.sh. tests/intel/neo.t asks the driver itself, where it is there. */
#ifndef NEO_PAPERS_H
#define NEO_PAPERS_H

/* What all of them list, first; then what only some do. */
#define NEO_ALL \
    "cl_khr_byte_addressable_store cl_khr_device_uuid cl_khr_fp16 cl_khr_global_int32_base_atomics " \
    "cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_icd_unloadable cl_khr_local_int32_base_atomics " \
    "cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups " \
    "cl_intel_required_subgroup_size cl_intel_subgroups_short cl_intel_accelerator cl_intel_driver_diagnostics " \
    "cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char " \
    "cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types " \
    "cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic " \
    "cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce " \
    "cl_intel_device_attribute_query cl_khr_expect_assume cl_khr_extended_bit_ops cl_khr_suggested_local_work_size " \
    "cl_intel_split_work_group_barrier cl_khr_int64_base_atomics cl_khr_int64_extended_atomics " \
    "cl_khr_integer_dot_product cl_intel_spirv_subgroups cl_khr_spirv_linkonce_odr " \
    "cl_khr_spirv_no_integer_wrap_decoration cl_khr_spirv_queries cl_intel_unified_shared_memory " \
    "cl_ext_float_atomics cl_intel_kernel_allocations_info "
#define NEO_XE2 \
    NEO_ALL \
    "cl_khr_fp64 cl_khr_subgroups cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_khr_external_memory " \
    "cl_intel_planar_yuv cl_intel_packed_yuv cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes " \
    "cl_intel_bfloat16_conversions cl_intel_create_buffer_with_properties cl_intel_subgroup_local_block_io " \
    "cl_intel_subgroup_matrix_multiply_accumulate cl_intel_subgroup_matrix_multiply_accumulate_tf32 " \
    "cl_khr_subgroup_named_barrier cl_intel_subgroup_extended_block_read cl_intel_subgroup_2d_block_io " \
    "cl_intel_subgroup_buffer_prefetch cl_khr_gl_sharing cl_khr_gl_depth_images cl_khr_gl_event " \
    "cl_khr_gl_msaa_sharing cl_intel_va_api_media_sharing cl_intel_sharing_format_query "
#define NEO_PVC \
    NEO_ALL \
    "cl_khr_fp64 cl_khr_subgroups cl_khr_external_memory cl_intel_bfloat16_conversions " \
    "cl_intel_create_buffer_with_properties cl_intel_subgroup_local_block_io " \
    "cl_intel_subgroup_matrix_multiply_accumulate cl_intel_subgroup_matrix_multiply_accumulate_tf32 " \
    "cl_khr_subgroup_named_barrier cl_intel_subgroup_extended_block_read cl_intel_subgroup_2d_block_io " \
    "cl_intel_subgroup_buffer_prefetch "
#define NEO_DG2 \
    NEO_ALL \
    "cl_intel_spirv_media_block_io cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_khr_external_memory " \
    "cl_intel_planar_yuv cl_intel_packed_yuv cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes " \
    "cl_intel_media_block_io cl_intel_bfloat16_conversions cl_intel_create_buffer_with_properties " \
    "cl_intel_subgroup_local_block_io cl_intel_subgroup_matrix_multiply_accumulate " \
    "cl_intel_subgroup_split_matrix_multiply_accumulate cl_khr_gl_sharing cl_khr_gl_depth_images cl_khr_gl_event " \
    "cl_khr_gl_msaa_sharing cl_intel_va_api_media_sharing cl_intel_sharing_format_query "
#define NEO_ARL \
    NEO_ALL \
    "cl_khr_fp64 cl_intel_spirv_media_block_io cl_khr_mipmap_image cl_khr_mipmap_image_writes " \
    "cl_khr_external_memory cl_intel_planar_yuv cl_intel_packed_yuv cl_khr_image2d_from_buffer cl_khr_depth_images " \
    "cl_khr_3d_image_writes cl_intel_media_block_io cl_intel_bfloat16_conversions " \
    "cl_intel_create_buffer_with_properties cl_intel_subgroup_local_block_io " \
    "cl_intel_subgroup_matrix_multiply_accumulate cl_khr_gl_sharing cl_khr_gl_depth_images cl_khr_gl_event " \
    "cl_khr_gl_msaa_sharing cl_intel_va_api_media_sharing cl_intel_sharing_format_query "
#define NEO_MTL \
    NEO_ALL \
    "cl_khr_fp64 cl_intel_spirv_media_block_io cl_khr_mipmap_image cl_khr_mipmap_image_writes " \
    "cl_khr_external_memory cl_intel_planar_yuv cl_intel_packed_yuv cl_khr_image2d_from_buffer cl_khr_depth_images " \
    "cl_khr_3d_image_writes cl_intel_media_block_io cl_intel_create_buffer_with_properties " \
    "cl_intel_subgroup_local_block_io cl_khr_gl_sharing cl_khr_gl_depth_images cl_khr_gl_event " \
    "cl_khr_gl_msaa_sharing cl_intel_va_api_media_sharing cl_intel_sharing_format_query "
#define NEO_XELP \
    NEO_ALL \
    "cl_intel_spirv_media_block_io cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_khr_external_memory " \
    "cl_intel_planar_yuv cl_intel_packed_yuv cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes " \
    "cl_intel_media_block_io cl_intel_subgroup_local_block_io cl_khr_gl_sharing cl_khr_gl_depth_images " \
    "cl_khr_gl_event cl_khr_gl_msaa_sharing cl_intel_va_api_media_sharing cl_intel_sharing_format_query "

#endif
