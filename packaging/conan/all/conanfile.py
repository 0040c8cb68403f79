# SPDX-License-Identifier: Apache-2.0
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0.9"


class ClattnConan(ConanFile):
    name = "clattn"
    description = "Fused attention on any OpenCL device"
    license = "Apache-2.0"
    homepage = "@HOMEPAGE@"
    url = "https://github.com/conan-io/conan-center-index"
    topics = ("attention", "flash-attention", "opencl", "gpu")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]
    languages = ["C"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        # <clattn.h> includes <CL/cl.h>.
        self.requires("opencl-headers/2023.12.14", transitive_headers=True)
        self.requires("opencl-icd-loader/2023.12.14", transitive_libs=True)
        if self.settings.os not in ("Windows", "Macos"): # which have SHA-256 of their own
            self.requires("libmd/1.1.0")

    def validate(self):
        if self.settings.compiler == "msvc":
            raise ConanInvalidConfiguration("clattn needs a compiler with GNU's atomics and POSIX threads: on Windows "
                                            "MinGW-w64")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        CMakeDeps(self).generate()
        CMakeToolchain(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "COPYING", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.libs = ["clattn"]
        self.cpp_info.set_property("cmake_file_name", "clattn")
        self.cpp_info.set_property("cmake_target_name", "clattn::clattn")
        self.cpp_info.set_property("pkg_config_name", "clattn")
        if self.settings.os == "Windows":
            self.cpp_info.system_libs = ["bcrypt", "advapi32"]
        elif self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "pthread"]
