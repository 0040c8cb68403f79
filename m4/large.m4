dnl SPDX-License-Identifier: Apache-2.0

dnl CL_LARGE: file sizes and times of 64 bits on machines of 32. Autoconf has AC_SYS_YEAR2038 from 2.72 on; before, the
dnl C library's switch is thrown where it makes time_t longer. glibc wants off_t of 64 bits with it.
AC_DEFUN([CL_LARGE], [
  AC_SYS_LARGEFILE
  m4_ifdef([AC_SYS_YEAR2038], [AC_SYS_YEAR2038], [
    AC_CACHE_CHECK([for _TIME_BITS value needed for a time_t of 64 bits], [cl_cv_time_bits], [
      cl_cv_time_bits=no
      m4_pushdef([cl_wide_time], [AC_LANG_SOURCE([[#include <time.h>
                                                   typedef char wide[sizeof(time_t) >= 8 ? 1 : -1];]])])
      AC_COMPILE_IFELSE([cl_wide_time], [], [
        cl_save_CPPFLAGS=$CPPFLAGS CPPFLAGS="$CPPFLAGS -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64"
        AC_COMPILE_IFELSE([cl_wide_time], [cl_cv_time_bits=64])
        CPPFLAGS=$cl_save_CPPFLAGS
      ])
      m4_popdef([cl_wide_time])
    ])
    AS_IF([test "$cl_cv_time_bits" != no],
      [AC_DEFINE([_TIME_BITS], [64], [Number of bits in time_t, where there is a choice])])
  ])
])
