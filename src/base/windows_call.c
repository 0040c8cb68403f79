/* windows_call.c - what Windows answers, as the rest of the library has it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/windows_call.h"

#include <errno.h>

int windows_call_error(void)
{
    static const struct {
        DWORD error;
        int number;
    } all[] = {
        { ERROR_ACCESS_DENIED, EACCES },         { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_BAD_NETPATH, ENOENT },           { ERROR_BAD_PATHNAME, ENOENT },
        { ERROR_DELETE_PENDING, EBUSY },         { ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
        { ERROR_DIRECTORY, ENOTDIR },            { ERROR_DISK_FULL, ENOSPC },
        { ERROR_FILE_EXISTS, EEXIST },           { ERROR_FILE_NOT_FOUND, ENOENT },
        { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG }, { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_INVALID_DRIVE, ENOENT },         { ERROR_INVALID_NAME, ENOENT },
        { ERROR_LOCK_VIOLATION, EBUSY },         { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
        { ERROR_NOT_SAME_DEVICE, EXDEV },        { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_PATH_NOT_FOUND, ENOENT },        { ERROR_SHARING_VIOLATION, EBUSY },
        { ERROR_TOO_MANY_OPEN_FILES, EMFILE },   { ERROR_WRITE_PROTECT, EROFS },
    };
    const DWORD error = GetLastError();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].error == error)
            return all[i].number;
    return EIO;
}
