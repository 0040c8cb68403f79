dnl SPDX-License-Identifier: Apache-2.0

dnl CL_FOLDERS: refuses white space in the names of folders, before anything is looked for. libtool does not quote the
dnl names that it installs to, and automake takes no such name for the source folder. A build folder may have one.
AC_DEFUN([CL_FOLDERS], [
  for cl_folder in prefix exec_prefix bindir sbindir libexecdir sysconfdir sharedstatedir localstatedir runstatedir \
      includedir datarootdir datadir docdir htmldir infodir libdir localedir mandir; do
    eval cl_name=\$$cl_folder
    AS_CASE([$cl_name], [*[[[:space:]]]*], [
      AC_MSG_ERROR([$cl_folder is '$cl_name': clattn cannot be installed into a folder with white space in its name.
  Choose another one, with --prefix or with the option that names this folder.])])
  done
  AS_CASE([$srcdir], [*[[[:space:]]]*], [
    AC_MSG_ERROR([the source folder is '$srcdir': it cannot be used by a name with white space.
  Call configure by a relative name, as in: mkdir build && cd build && ../configure])])
])
