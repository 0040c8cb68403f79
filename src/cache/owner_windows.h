/* owner_windows.h - whose an open file or folder is
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OWNER_WINDOWS_H
#define OWNER_WINDOWS_H

#include "base/why.h"

#include <windows.h>

/* Whether this user, Windows itself or an administrator owns it, and nobody else may change it. Administrators may do
 * so anyway, and what they make belongs to all of them. Where that cannot be found out, nobody is trusted. */
bool owner_is_trusted(HANDLE h);

#endif
