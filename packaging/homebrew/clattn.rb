# SPDX-License-Identifier: Apache-2.0
class Clattn < Formula
  desc "Fused attention on any OpenCL device"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "pkgconf" => [:build, :test]
  depends_on "opencl-headers" # <clattn.h> includes <CL/cl.h>

  on_linux do
    depends_on "libmd"
    depends_on "opencl-icd-loader"
  end

  def install
    args = ["--disable-silent-rules", "--without-clblast"]
    args << "OPENCL_LIBS=-framework OpenCL" if OS.mac?
    system "./configure", *args, *std_configure_args
    system "make"
    system "make", "install"
    pkgshare.install "examples/first_call.c"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/clattn-run --version")
    flags = shell_output("pkgconf --cflags --libs clattn").chomp.split
    system ENV.cc, pkgshare/"first_call.c", "-o", "first_call", *flags
  end
end
