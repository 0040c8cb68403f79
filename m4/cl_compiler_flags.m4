dnl SPDX-License-Identifier: Apache-2.0

dnl CL_TRY_FLAG(VARIABLE, COMPILER FLAG, [LINK WITH], [ACTION IF IT WORKS]): appends the flag to VARIABLE when a program
dnl (or, with LINK WITH, a link with those flags) accepts it.
AC_DEFUN([CL_TRY_FLAG], [
  AS_VAR_PUSHDEF([cache], [cl_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC accepts $2], [cache], [
    cl_save_CFLAGS=$CFLAGS cl_save_LDFLAGS=$LDFLAGS
    m4_if([$3], [], [CFLAGS="$CFLAGS -Werror $2"], [CFLAGS="$CFLAGS -fPIC" LDFLAGS="$LDFLAGS $3 $2"])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[int f(const int *p); int f(const int *p) { return *p; }
                                     int main(void) { return 0; }]])],
                   [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
    CFLAGS=$cl_save_CFLAGS LDFLAGS=$cl_save_LDFLAGS
  ])
  AS_VAR_IF([cache], [yes], [$1="$$1 $2"; $4])
  AS_VAR_POPDEF([cache])
])

dnl CL_COMPILER_FLAGS: warnings, hidden visibility, and for the shared library the linker's checks and the version
dnl script. Each is used where it works; -Werror is for continuous integration, by CFLAGS.
AC_DEFUN([CL_COMPILER_FLAGS], [
  WARN_CFLAGS= FRAME_CFLAGS= VISIBILITY_CFLAGS= PTX_CFLAGS= SHARED_LDFLAGS=
  CL_TRY_FLAG([WARN_CFLAGS], [-Wall])
  CL_TRY_FLAG([WARN_CFLAGS], [-Wextra])
  CL_TRY_FLAG([WARN_CFLAGS], [-Wvla])
  CL_TRY_FLAG([WARN_CFLAGS], [-Wstrict-prototypes])
  dnl Threads of callers may have small stacks; Windows' paths are large.
  AS_CASE([$host_os], [mingw*], [],
          [CL_TRY_FLAG([FRAME_CFLAGS], [-Wframe-larger-than=8192])])
  CL_TRY_FLAG([VISIBILITY_CFLAGS], [-fvisibility=hidden])
  dnl The PTX interpreter rounds as it says: no contraction. The others let compilers make vectors of its loops at -O2.
  CL_TRY_FLAG([PTX_CFLAGS], [-ffp-contract=off])
  CL_TRY_FLAG([PTX_CFLAGS], [-fno-math-errno])
  CL_TRY_FLAG([PTX_CFLAGS], [-fno-trapping-math])
  CL_TRY_FLAG([PTX_CFLAGS], [-ftree-vectorize])
  CL_TRY_FLAG([PTX_CFLAGS], [-fvect-cost-model=dynamic])
  CL_TRY_FLAG([SHARED_LDFLAGS], [-Wl,-z,defs], [-shared])

  AC_CACHE_CHECK([whether the linker takes a version script], [cl_cv_version_script], [
    echo 'V { global: f; local: *; };' >conftest.map
    cl_save_CFLAGS=$CFLAGS cl_save_LDFLAGS=$LDFLAGS
    CFLAGS="$CFLAGS -fPIC" LDFLAGS="$LDFLAGS -shared -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[int f(void); int f(void) { return 0; }]])],
                   [cl_cv_version_script=yes], [cl_cv_version_script=no])
    CFLAGS=$cl_save_CFLAGS LDFLAGS=$cl_save_LDFLAGS
    rm -f conftest.map
  ])
  AM_CONDITIONAL([VERSION_SCRIPT], [test "$cl_cv_version_script" = yes && test "$cl_system" != windows])
  AC_SUBST([WARN_CFLAGS])
  AC_SUBST([FRAME_CFLAGS])
  AC_SUBST([VISIBILITY_CFLAGS])
  AC_SUBST([PTX_CFLAGS])
  AC_SUBST([SHARED_LDFLAGS])
])

dnl CL_CXX17: whether there is a C++ compiler for the tests of clattn.hpp, and its flags. The library needs none.
AC_DEFUN([CL_CXX17], [
  CXX17_FLAGS="-std=c++17 -Wall -Wextra -Wpedantic"
  AC_CACHE_CHECK([for a C++17 compiler], [cl_cv_cxx17], [
    AC_LANG_PUSH([C++])
    cl_save_CXXFLAGS=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS $CXX17_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string>]],
                                    [[if (std::string s; !s.empty()) return 1;]])],
                   [cl_cv_cxx17=yes], [cl_cv_cxx17=no])
    CXXFLAGS=$cl_save_CXXFLAGS
    AC_LANG_POP([C++])
  ])
  AM_CONDITIONAL([CXX17], [test "$cl_cv_cxx17" = yes])
  AC_SUBST([CXX17_FLAGS])
])
