/* process_windows.c - who this process is, and whether another one is gone, on Windows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"
#include "cache/process.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

/* When the process began, in 100 ns since 1601, so that no other start of the machine has the same; 0: not known. */
static uint64_t began(HANDLE process)
{
    FILETIME start, end, kernel, user;
    if (!GetProcessTimes(process, &start, &end, &kernel, &user))
        return 0;
    return (uint64_t)start.dwHighDateTime << 32 | start.dwLowDateTime;
}

/* Identifies the machine by what it was given when Windows was installed, and by its name, because installations are
 * copied. */
static void find_place(char place[PROCESS_PLACE + 1])
{
    char guid[64] = "", name[256] = "", text[sizeof guid + sizeof name], hex[DIGEST_HEX];
    DWORD of_guid = sizeof guid, of_name = sizeof name;
    unsigned char digest[DIGEST_BYTES];
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "SOFTWARE\\Microsoft\\Cryptography", "MachineGuid", RRF_RT_REG_SZ, NULL, guid,
                     &of_guid))
        guid[0] = '\0';
    if (!GetComputerNameExA(ComputerNamePhysicalDnsHostname, name, &of_name))
        name[0] = '\0';
    place[0] = '\0';
    if (!guid[0] && !name[0])
        return;
    const int n = snprintf(text, sizeof text, "%s %s", guid, name);
    digest_of(digest, text, n > 0 ? (size_t)n : 0);
    digest_hex(hex, digest);
    memcpy(place, hex, PROCESS_PLACE);
    place[PROCESS_PLACE] = '\0';
}

void process_self(struct process *p)
{
    p->id = GetCurrentProcessId();
    p->began = began(GetCurrentProcess());
    find_place(p->place);
}

bool process_is_there(const struct process *p, const struct process *self)
{
    if (p->id == self->id)
        return process_is_same_time(p->began, self->began);
    const HANDLE h = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, (DWORD)p->id);
    if (!h)
        return GetLastError() != ERROR_INVALID_PARAMETER; /* which says that there is none; others are hidden */
    /* one that has ended is there as long as somebody has a handle of it */
    const bool there = WaitForSingleObject(h, 0) != WAIT_OBJECT_0 && process_is_same_time(p->began, began(h));
    CloseHandle(h);
    return there;
}
