/* folder.c - open folders, private to this user
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/folder.h"

#include <errno.h>

bool folder_is_missing(int status)
{
#ifdef ESTALE
    if (status == ESTALE) /* it was opened, and then removed on another machine */
        return true;
#endif
    return status == ENOENT;
}
