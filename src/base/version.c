/* version.c - the version of the library
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/version.h"

#include <clattn.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char version_text[] =
    STRING(CLATTN_VERSION_MAJOR) "." STRING(CLATTN_VERSION_MINOR) "." STRING(CLATTN_VERSION_PATCH);
