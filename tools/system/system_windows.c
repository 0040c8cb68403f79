/* system_windows.c - system.h for Windows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/command_windows.h"
#include "tools/system/system.h"

#include <errno.h>
#include <io.h>
#include <signal.h>
#include <stdlib.h>
#include <windows.h>

static volatile LONG signal_got;

/* Runs in a thread of its own. What it does not take ends the process. */
static BOOL WINAPI on_control(DWORD kind)
{
    const LONG number = kind == CTRL_C_EVENT || kind == CTRL_BREAK_EVENT ? SIGINT : SIGTERM;
    return InterlockedCompareExchange(&signal_got, number, 0) == 0;
}

void system_catch_interrupts(void)
{
    (void)SetConsoleCtrlHandler(on_control, TRUE);
}

int system_interrupted(void)
{
    return (int)signal_got;
}

static int look_at(const char *path, BY_HANDLE_FILE_INFORMATION *info)
{
    const HANDLE h = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return 0;
    const int good = GetFileInformationByHandle(h, info);
    CloseHandle(h);
    return good;
}

int system_is_same_file(const char *path, const char *other)
{
    BY_HANDLE_FILE_INFORMATION a, b;
    return look_at(path, &a) && look_at(other, &b) && a.dwVolumeSerialNumber == b.dwVolumeSerialNumber &&
           a.nFileIndexHigh == b.nFileIndexHigh && a.nFileIndexLow == b.nFileIndexLow;
}

int system_is_terminal(int fd)
{
    return _isatty(fd);
}

int system_has(const char *name)
{
    char path[MAX_PATH];
    return SearchPathA(NULL, name, ".exe", sizeof path, path, NULL) > 0;
}

int system_run(char *const argv[], int *status)
{
    STARTUPINFOA how = { .cb = sizeof how };
    PROCESS_INFORMATION started;
    DWORD code = 1;
    char *const line = command_line(argv);
    *status = -1;
    if (!line)
        return ENOMEM;
    const BOOL good = CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &how, &started);
    free(line);
    if (!good)
        return GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
    (void)WaitForSingleObject(started.hProcess, INFINITE);
    (void)GetExitCodeProcess(started.hProcess, &code);
    CloseHandle(started.hThread);
    CloseHandle(started.hProcess);
    *status = (int)code;
    return 0;
}

int system_columns(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info))
        return 80;
    const int columns = info.srWindow.Right - info.srWindow.Left + 1;
    return columns > 20 ? columns : 80;
}

uint64_t system_memory(void)
{
    MEMORYSTATUSEX m = { .dwLength = sizeof m };
    return GlobalMemoryStatusEx(&m) ? m.ullAvailPhys : 0;
}
