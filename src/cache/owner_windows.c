/* owner_windows.c - whose an open file or folder is, by its owner and its list of access
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/owner_windows.h"

#include <stdlib.h>

#include <aclapi.h>
#include <sddl.h>

/* Rights by which somebody could change a file, a folder, what is in it, or these rights. */
enum {
    CHANGES = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_WRITE_ATTRIBUTES | FILE_DELETE_CHILD | DELETE |
              WRITE_DAC | WRITE_OWNER
};
static const DWORD all_changes = CHANGES | GENERIC_WRITE | GENERIC_ALL;

/* Windows, the group of administrators, and what installs programs. */
static bool is_system(PSID who)
{
    static const char installer[] = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";
    PSID sid = NULL;
    if (IsWellKnownSid(who, WinLocalSystemSid) || IsWellKnownSid(who, WinBuiltinAdministratorsSid))
        return true;
    const bool same = ConvertStringSidToSidA(installer, &sid) && EqualSid(who, sid);
    LocalFree(sid);
    return same;
}

/* Returns the user of this process, allocated, or NULL. */
static TOKEN_USER *find_user(void)
{
    HANDLE token;
    DWORD n = 0;
    TOKEN_USER *user = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return NULL;
    (void)GetTokenInformation(token, TokenUser, NULL, 0, &n);
    if (n && (user = malloc(n)) && !GetTokenInformation(token, TokenUser, user, n, &n)) {
        free(user);
        user = NULL;
    }
    CloseHandle(token);
    return user;
}

static bool is_trusted(PSID who, const TOKEN_USER *user)
{
    return who && IsValidSid(who) && (EqualSid(who, user->User.Sid) || is_system(who));
}

/* Whether an entry of a list lets nobody else change anything. Kinds that are not known are not trusted. */
static bool is_harmless(const ACE_HEADER *entry, const TOKEN_USER *user)
{
    const ACCESS_ALLOWED_ACE *const allowed = (const ACCESS_ALLOWED_ACE *)entry;
    if (entry->AceType == ACCESS_DENIED_ACE_TYPE || entry->AceFlags & INHERIT_ONLY_ACE)
        return true;
    if (entry->AceType != ACCESS_ALLOWED_ACE_TYPE)
        return false;
    return !(allowed->Mask & all_changes) || is_trusted((PSID)(uintptr_t)&allowed->SidStart, user);
}

/* No list at all means that everybody may do everything. */
static bool is_closed(ACL *list, const TOKEN_USER *user)
{
    for (DWORD i = 0; list && i < list->AceCount; i++) {
        void *entry;
        if (!GetAce(list, i, &entry) || !is_harmless(entry, user))
            return false;
    }
    return list != NULL;
}

bool owner_is_trusted(HANDLE h)
{
    PSECURITY_DESCRIPTOR all = NULL;
    PSID owner = NULL;
    ACL *list = NULL;
    TOKEN_USER *const user = find_user();
    const bool trusted = user &&
                         !GetSecurityInfo(h, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                          &owner, NULL, &list, NULL, &all) &&
                         is_trusted(owner, user) && is_closed(list, user);
    LocalFree(all);
    free(user);
    return trusted;
}
