dnl SPDX-License-Identifier: Apache-2.0

dnl CL_SYSTEM: for which system is built, and what it has. WINDOWS, MACOS choose files of src/base, src/cache and tools;
dnl all other systems take those of POSIX, with functions that not all of them have.
AC_DEFUN([CL_SYSTEM], [
  AC_REQUIRE([AC_CANONICAL_HOST])
  cl_system=posix
  AS_CASE([$host_os], [mingw*], [cl_system=windows], [darwin*], [cl_system=macos])
  AM_CONDITIONAL([WINDOWS], [test $cl_system = windows])
  AM_CONDITIONAL([MACOS], [test $cl_system = macos])
  AC_CHECK_FUNCS([strndup])
  AS_IF([test $cl_system != windows], [
    AC_CHECK_HEADERS([sys/random.h])
    AC_CHECK_FUNCS([getauxval getrandom gettid issetugid pipe2 secure_getenv sigtimedwait])
  ])
  SYSTEM_LIBS=
  AS_CASE([$cl_system],
    [windows], [SYSTEM_LIBS="-lbcrypt -ladvapi32"],
    [posix], [
      AC_CHECK_HEADER([sha256.h], [], [AC_MSG_ERROR([clattn needs libmd for SHA-256 (Debian: libmd-dev)])])
      AC_SEARCH_LIBS([SHA256Init], [md], [], [AC_MSG_ERROR([clattn needs libmd for SHA-256 (Debian: libmd-dev)])])
    ])
  LIBS="$SYSTEM_LIBS $LIBS"
  dnl MinGW's printf() is C's, but the compiler takes "printf" for Microsoft's.
  AH_BOTTOM([#if defined __MINGW32__ && !defined __clang__
#define PRINTF_LIKE(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#endif])
])
