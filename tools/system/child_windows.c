/* child_windows.c - children on Windows: a named pipe, and a job that ends with its last handle
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/child.h"
#include "tools/system/child_steps.h"

#include "tools/system/clock.h"
#include "tools/system/command_windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { LOG_BYTES = 1 << 16, KILLED = 0x6b696c6c };

/* What child.more points to. */
struct more {
    HANDLE job;
    OVERLAPPED read; /* of its pipe: into `bytes`, if it is under way */
    int reading;
    char bytes[sizeof(struct answer)];
};

static HANDLE handle(intptr_t h)
{
    return (HANDLE)h;
}

/* ---- What it prints ---- */

static void drain(struct child *c)
{
    char bytes[4096];
    DWORD there, n;
    for (int i = 0; i < 64 && c->log >= 0; i++) { /* a child that prints without end must still run into its limit */
        if (!PeekNamedPipe(handle(c->log), NULL, 0, NULL, &there, NULL)) {
            CloseHandle(handle(c->log));
            c->log = -1;
        } else if (!there || !ReadFile(handle(c->log), bytes, there < sizeof bytes ? there : sizeof bytes, &n, NULL)) {
            return;
        } else {
            child_keep(c, bytes, n);
        }
    }
}

/* ---- Starting ---- */

void child_expect(void)
{
}

/* Makes the two ends of its pipe: the parent's does not wait, and the child inherits the other one. */
static int make_pipe(struct child *c, HANDLE *other)
{
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };
    LARGE_INTEGER now;
    char name[96];
    (void)QueryPerformanceCounter(&now);
    snprintf(name, sizeof name, "\\\\.\\pipe\\clattn-%lu-%lld", GetCurrentProcessId(), (long long)now.QuadPart);
    const HANDLE own = CreateNamedPipeA(
        name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, sizeof(struct answer), sizeof(struct answer), 0, NULL);
    if (own == INVALID_HANDLE_VALUE)
        return EIO;
    *other = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, NULL);
    if (*other == INVALID_HANDLE_VALUE) {
        CloseHandle(own);
        return EIO;
    }
    c->talk = (intptr_t)own;
    return 0;
}

static int make_log(struct child *c, HANDLE *other)
{
    SECURITY_ATTRIBUTES inherited = { sizeof inherited, NULL, TRUE };
    HANDLE own;
    if (!CreatePipe(&own, other, &inherited, LOG_BYTES))
        return EIO;
    c->log = (intptr_t)own;
    return SetHandleInformation(own, HANDLE_FLAG_INHERIT, 0) ? 0 : EIO;
}

/* A job whose processes die when this process does, and of whose crashes no window tells. */
static int make_job(struct more *m)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
    memset(&limits, 0, sizeof limits);
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    m->job = CreateJobObjectA(NULL, NULL);
    m->read.hEvent = CreateEventA(NULL, TRUE, FALSE, NULL);
    return m->job && m->read.hEvent &&
                   SetInformationJobObject(m->job, JobObjectExtendedLimitInformation, &limits, sizeof limits)
               ? 0
               : EIO;
}

/* Starts it with two handles, and no other that may be inherited, of which drivers have some. */
static int spawn_with(struct child *c, char *line, HANDLE ends[2], LPPROC_THREAD_ATTRIBUTE_LIST attributes)
{
    const struct more *const m = c->more;
    PROCESS_INFORMATION started;
    STARTUPINFOEXA how;
    char self[MAX_PATH + 1];
    const DWORD n = GetModuleFileNameA(NULL, self, sizeof self);
    memset(&how, 0, sizeof how);
    how.StartupInfo.cb = sizeof how;
    how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    how.StartupInfo.hStdInput = ends[0];
    how.StartupInfo.hStdOutput = how.StartupInfo.hStdError = ends[1];
    how.lpAttributeList = attributes;
    if (!UpdateProcThreadAttribute(attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, ends, 2 * sizeof *ends, NULL,
                                   NULL) ||
        !CreateProcessA(n && n < sizeof self ? self : NULL, line, NULL, NULL, TRUE,
                        CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | EXTENDED_STARTUPINFO_PRESENT, NULL, NULL,
                        &how.StartupInfo, &started))
        return EACCES;
    c->process = (intptr_t)started.hProcess;
    const int good = AssignProcessToJobObject(m->job, started.hProcess) && ResumeThread(started.hThread) != (DWORD)-1;
    CloseHandle(started.hThread);
    if (!good)
        (void)TerminateProcess(started.hProcess, KILLED);
    return good ? 0 : EIO;
}

static int spawn(struct child *c, char *const argv[], HANDLE ends[2])
{
    SIZE_T n = 0;
    char *const line = command_line(argv);
    (void)InitializeProcThreadAttributeList(NULL, 1, 0, &n);
    LPPROC_THREAD_ATTRIBUTE_LIST attributes = malloc(n ? n : 1);
    int e = ENOMEM;
    if (line && attributes && InitializeProcThreadAttributeList(attributes, 1, 0, &n)) {
        e = spawn_with(c, line, ends, attributes);
        DeleteProcThreadAttributeList(attributes);
    }
    free(attributes);
    free(line);
    return e;
}

int child_start(struct child *c, char *const argv[])
{
    HANDLE ends[2] = { INVALID_HANDLE_VALUE, INVALID_HANDLE_VALUE };
    memset(c, 0, sizeof *c);
    c->talk = c->log = -1;
    c->more = calloc(1, sizeof(struct more));
    c->open = 1;
    int e = c->more ? make_job(c->more) : ENOMEM;
    if (!e)
        e = make_pipe(c, &ends[0]);
    if (!e)
        e = make_log(c, &ends[1]);
    if (!e)
        e = spawn(c, argv, ends);
    for (int i = 0; i < 2; i++)
        if (ends[i] != INVALID_HANDLE_VALUE)
            CloseHandle(ends[i]);
    if (e)
        child_close(c);
    return e;
}

/* ---- Ending ---- */

int child_is_dead(const struct child *c)
{
    return WaitForSingleObject(handle(c->process), 0) == WAIT_OBJECT_0;
}

/* Crashes end with the status of the exception. */
static void put_in_words(DWORD code, char how[CHILD_HOW])
{
    static const struct {
        DWORD code;
        const char *name;
    } names[] = {
        { EXCEPTION_ACCESS_VIOLATION, "an access violation" },
        { EXCEPTION_ILLEGAL_INSTRUCTION, "an illegal instruction" },
        { EXCEPTION_INT_DIVIDE_BY_ZERO, "a division by zero" },
        { EXCEPTION_STACK_OVERFLOW, "a stack overflow" },
        { KILLED, "having been killed" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) {
            snprintf(how, CHILD_HOW, "died of %s", names[i].name);
            return;
        }
    if (code >= 0xc0000000u)
        snprintf(how, CHILD_HOW, "died of exception 0x%08lx", code);
    else
        snprintf(how, CHILD_HOW, "ended with status %lu", code);
}

int child_reap(struct child *c, int ms, char how[CHILD_HOW])
{
    const double end = clock_ms() + ms;
    const struct more *const m = c->more;
    DWORD code = 0;
    while (WaitForSingleObject(handle(c->process), 2) != WAIT_OBJECT_0) {
        if (!(clock_ms() < end))
            return 0;
        drain(c);
    }
    (void)TerminateJobObject(m->job, KILLED); /* processes that a driver left running */
    (void)GetExitCodeProcess(handle(c->process), &code);
    drain(c);
    CloseHandle(handle(c->process));
    c->process = 0;
    put_in_words(code, how);
    return 1;
}

void child_kill(struct child *c)
{
    const struct more *const m = c->more;
    char how[CHILD_HOW];
    (void)TerminateJobObject(m->job, KILLED);
    if (!child_reap(c, CHILD_DEAD_MS, how)) { /* its number is not waited for */
        CloseHandle(handle(c->process));
        c->process = 0;
    }
}

void child_hang_up(struct child *c)
{
    struct more *const m = c->more;
    DWORD n;
    if (c->talk == -1)
        return;
    if (m->reading) {
        (void)CancelIo(handle(c->talk));
        (void)GetOverlappedResult(handle(c->talk), &m->read, &n, TRUE); /* until then it writes to m->bytes */
    }
    CloseHandle(handle(c->talk));
}

void child_release(struct child *c)
{
    struct more *const m = c->more;
    if (c->log != -1)
        CloseHandle(handle(c->log));
    if (m && m->read.hEvent)
        CloseHandle(m->read.hEvent);
    if (m && m->job)
        CloseHandle(m->job);
    free(m);
    c->more = NULL;
}

/* ---- Talking ---- */

/* One byte finds room in the pipe. If the child is dead, child_wait() finds that out. */
void child_ask(struct child *c)
{
    OVERLAPPED write = { .hEvent = CreateEventA(NULL, TRUE, FALSE, NULL) };
    DWORD n;
    if (!write.hEvent)
        return;
    if (WriteFile(handle(c->talk), "?", 1, NULL, &write) || GetLastError() == ERROR_IO_PENDING)
        (void)GetOverlappedResult(handle(c->talk), &write, &n, TRUE);
    CloseHandle(write.hEvent);
}

int child_receive(struct child *c, void *to, size_t n)
{
    struct more *const m = c->more;
    DWORD got = 0;
    if (!m->reading && !ReadFile(handle(c->talk), m->bytes, (DWORD)(n < sizeof m->bytes ? n : sizeof m->bytes), NULL,
                                 &m->read) &&
        GetLastError() != ERROR_IO_PENDING)
        return -1;
    m->reading = 1;
    if (!GetOverlappedResult(handle(c->talk), &m->read, &got, FALSE)) {
        m->reading = GetLastError() == ERROR_IO_INCOMPLETE;
        return m->reading ? 0 : -1;
    }
    m->reading = 0;
    memcpy(to, m->bytes, got);
    return (int)got;
}

void child_wait_a_little(struct child *c)
{
    const struct more *const m = c->more;
    const HANDLE any[2] = { m->read.hEvent, handle(c->process) };
    (void)WaitForMultipleObjects(2, any, FALSE, CHILD_TICK_MS / 10); /* nothing tells of its output */
    drain(c);
}

/* ---- The child's side ---- */

/* Its pipe is what it has for standard input. Crashes are expected, and no window tells of them. */
int child_begin(void)
{
    const HANDLE own = GetStdHandle(STD_INPUT_HANDLE);
    HANDLE pipe;
    if (GetFileType(own) != FILE_TYPE_PIPE ||
        !DuplicateHandle(GetCurrentProcess(), own, GetCurrentProcess(), &pipe, 0, FALSE, DUPLICATE_SAME_ACCESS))
        return -1;
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    const int fd = _open_osfhandle((intptr_t)pipe, _O_BINARY | _O_NOINHERIT), null = _open("NUL", _O_RDONLY);
    if (fd < 0 || null < 0 || _dup2(null, 0) != 0) /* this sets the standard handle, too */
        return -1;
    (void)_close(null);
    return fd;
}

int child_send(int fd, const void *bytes, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        const int k = _write(fd, (const char *)bytes + sent, (unsigned)(n - sent));
        if (k <= 0)
            return -1;
        sent += (size_t)k;
    }
    return 0;
}

int child_asked(int fd)
{
    char byte;
    return _read(fd, &byte, 1) == 1 ? 0 : -1;
}
