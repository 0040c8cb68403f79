dnl SPDX-License-Identifier: Apache-2.0

dnl CL_OPENCL: the OpenCL headers and loader. pkg-config is asked when there is one, never required.
dnl Sets OPENCL_CFLAGS and OPENCL_LIBS, and for clattn.pc OPENCL_REQUIRES or OPENCL_PC_LIBS.
AC_DEFUN([CL_OPENCL], [
  AC_ARG_VAR([OPENCL_CFLAGS], [where CL/cl.h is, if not on the usual path])
  AC_ARG_VAR([OPENCL_LIBS], [how to link OpenCL (default: -lOpenCL)])
  AC_DEFINE([CL_TARGET_OPENCL_VERSION], [120], [The OpenCL version that the host code is written for])
  AC_CHECK_TOOL([PKG_CONFIG], [pkg-config], [false])
  OPENCL_REQUIRES= OPENCL_PC_LIBS=
  AS_IF([test -z "$OPENCL_LIBS" && $PKG_CONFIG --exists OpenCL], [
    OPENCL_REQUIRES=OpenCL
    OPENCL_CFLAGS="$OPENCL_CFLAGS `$PKG_CONFIG --cflags OpenCL`"
    OPENCL_LIBS=`$PKG_CONFIG --libs OpenCL`
  ], [
    : ${OPENCL_LIBS=-lOpenCL}
    OPENCL_PC_LIBS=$OPENCL_LIBS
  ])
  AC_SUBST([OPENCL_REQUIRES])
  AC_SUBST([OPENCL_PC_LIBS])

  AC_CACHE_CHECK([for OpenCL], [cl_cv_opencl], [
    cl_save_CPPFLAGS=$CPPFLAGS cl_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $OPENCL_CFLAGS" LIBS="$OPENCL_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
                                      #include <CL/cl.h>]],
                                    [[cl_uint n; return clGetPlatformIDs(0, 0, &n);]])],
                   [cl_cv_opencl=yes], [cl_cv_opencl=no])
    CPPFLAGS=$cl_save_CPPFLAGS LIBS=$cl_save_LIBS
  ])
  AS_IF([test "$cl_cv_opencl" = no], [AC_MSG_ERROR([OpenCL headers or loader not found.
  Debian and Ubuntu: apt-get install ocl-icd-opencl-dev
  Elsewhere: give OPENCL_CFLAGS=-IDIR (DIR holds CL/cl.h) and OPENCL_LIBS='-LDIR -lOpenCL'])])
])

dnl CL_CLBLAST: optional, a peer for clattn-bench. The library itself never uses it.
AC_DEFUN([CL_CLBLAST], [
  AC_ARG_WITH([clblast], [AS_HELP_STRING([--without-clblast], [do not compare with CLBlast in clattn-bench])],
              [], [with_clblast=check])
  CLBLAST_LIBS=
  AS_IF([test "$with_clblast" != no], [
    cl_save_CPPFLAGS=$CPPFLAGS cl_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $OPENCL_CFLAGS" LIBS="-lclblast $OPENCL_LIBS $LIBS"
    AC_CACHE_CHECK([for CLBlast], [cl_cv_clblast],
      [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
                                         #include <clblast_c.h>]], [[return CLBlastClearCache();]])],
                      [cl_cv_clblast=yes], [cl_cv_clblast=no])])
    CPPFLAGS=$cl_save_CPPFLAGS LIBS=$cl_save_LIBS
    AS_CASE([$cl_cv_clblast,$with_clblast],
      [yes,*], [CLBLAST_LIBS=-lclblast
                AC_DEFINE([HAVE_CLBLAST], [1], [Define to 1 if clattn-bench can compare with CLBlast])],
      [no,yes], [AC_MSG_ERROR([CLBlast not found. Debian and Ubuntu: apt-get install libclblast-dev])])
  ])
  AC_SUBST([CLBLAST_LIBS])
])
