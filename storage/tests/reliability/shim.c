/* A preloaded library that stands between a database process and its folder.
 *
 * It keeps a journal of what a disk may still forget (power loss), lets the n-th call fail, has a
 * budget of bytes (full disk), and can make the folder read-only. It looks only at paths below
 * ENGRAPH_SHIM_ROOT, and does every call itself by number, so that nothing has to be looked up.
 *
 *   ENGRAPH_SHIM_ROOT      the folder; without it nothing happens
 *   ENGRAPH_SHIM_JOURNAL   the journal, lines as below
 *   ENGRAPH_SHIM_GRAVES    a folder that keeps a second name of every file that is removed
 *   ENGRAPH_SHIM_LIE       syncs do nothing, say that they did, and are not recorded
 *   ENGRAPH_SHIM_FAULT     "<n> <errno, or 0 for a short one> <1 if sticky> <kind, or 0 for any>"
 *   ENGRAPH_SHIM_COUNTER   a file of 64-bit numbers: faults, kind of the first, calls of each kind
 *   ENGRAPH_SHIM_BUDGET    bytes that may be written before the disk is full
 *   ENGRAPH_SHIM_READONLY  opening for writing, renaming and removing fail with EROFS
 *
 * Journal, one line per event, numbered from 0 by position. Events on names are written before
 * they happen, events on bytes after:
 *
 *   C path              a file is created            S inode length      bytes are on the disk
 *   R from to grave     a file is renamed            T inode length      a file is cut
 *   U path grave        a file is removed            D count             names before event `count`
 *   M path              a folder is made             P count             same, of the root's parent
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum op { OP_WRITE = 1, OP_FSYNC, OP_FDATASYNC, OP_RENAME, OP_OPEN, OP_FALLOCATE, OP_UNLINK, OP_READ };
enum { FDS_MAX = 65536, EINTR_MAX = 50, NUMBERS = 11 };

static char root[PATH_MAX], graves[PATH_MAX];
static size_t root_length;
static int journal = -1;
static int lies, read_only, has_fault, fault_error, fault_sticky, fault_op;
static uint64_t fault_at;
static atomic_llong budget = LLONG_MAX;
static atomic_uchar tracked[FDS_MAX]; /* 1 file, 2 folder */
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;
static long events, buried;
static _Atomic uint64_t private_counter[NUMBERS];
static _Atomic uint64_t *counter = private_counter;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("ENGRAPH_SHIM_ROOT");
    if (!text) return;
    snprintf(root, sizeof root, "%s", text);
    root_length = strlen(root);
    if ((text = getenv("ENGRAPH_SHIM_JOURNAL")))
        journal = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((text = getenv("ENGRAPH_SHIM_GRAVES"))) snprintf(graves, sizeof graves, "%s", text);
    lies = getenv("ENGRAPH_SHIM_LIE") != NULL;
    read_only = getenv("ENGRAPH_SHIM_READONLY") != NULL;
    if ((text = getenv("ENGRAPH_SHIM_BUDGET"))) budget = atoll(text);
    unsigned long long at;
    if ((text = getenv("ENGRAPH_SHIM_FAULT")) &&
        sscanf(text, "%llu %d %d %d", &at, &fault_error, &fault_sticky, &fault_op) == 4) {
        has_fault = 1;
        fault_at = at;
    }
    if ((text = getenv("ENGRAPH_SHIM_COUNTER"))) {
        int fd = syscall(SYS_openat, AT_FDCWD, text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0 && syscall(SYS_ftruncate, fd, (off_t)sizeof private_counter) == 0) {
            void *page = mmap(NULL, sizeof private_counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (page != MAP_FAILED) counter = page;
        }
        if (fd >= 0) syscall(SYS_close, fd);
    }
}

/* A path below an open folder, `/proc/self/fd/3/name`, by the name of that folder. */
static const char *seen(const char *path, char named[2 * PATH_MAX]) {
    int folder, behind = 0;
    if (!path || sscanf(path, "/proc/self/fd/%d%n", &folder, &behind) != 1) return path;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, named, PATH_MAX);
    if (length < 0) return path;
    snprintf(named + length, PATH_MAX, "%s", path + behind);
    return named;
}

static int is_ours(const char *path) {
    return root_length && path && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static int kind_of(int fd) {
    return fd >= 0 && fd < FDS_MAX ? tracked[fd] : 0;
}

/* What the engine tells people: nothing depends on it, and it would take most of the faults. */
static int is_told(const char *path) {
    const char *name = strrchr(path, '/');
    return name && strncmp(name, "/LOG", 4) == 0;
}

/* 0 to go on, an error, or -1 for a short one. Numbers: 0 faults, 1 kind of the first, 2 calls,
 * then the calls of each kind. */
static int fault(enum op op) {
    uint64_t any = atomic_fetch_add(&counter[2], 1) + 1;
    uint64_t same = atomic_fetch_add(&counter[2 + op], 1) + 1;
    if (!has_fault || (fault_op && fault_op != (int)op)) return 0;
    if ((fault_op ? same : any) < fault_at) return 0;
    if (fault_error == 0 && op != OP_WRITE && op != OP_READ) return 0;
    if (fault_error == EINTR && counter[0] >= EINTR_MAX) return 0;
    if (!fault_sticky && counter[0]) return 0;
    if (atomic_fetch_add(&counter[0], 1) == 0) counter[1] = op;
    return fault_error == 0 ? -1 : fault_error;
}

/* Called with `names` held. */
static void note(const char *format, ...) {
    char line[3 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (journal >= 0 && syscall(SYS_write, journal, line, length) == length) events++;
}

/* Gives a file that is about to lose its name another one; called with `names` held. */
static void bury(const char *path, char *grave, size_t size) {
    snprintf(grave, size, "-");
    if (!graves[0]) return;
    char place[PATH_MAX + 32];
    snprintf(place, sizeof place, "%s/%ld", graves, buried++);
    if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, place, 0) == 0) snprintf(grave, size, "%s", place);
}

static int fail(int error) {
    errno = error;
    return -1;
}

static int open_any(int folder, const char *path, int flags, mode_t mode) {
    char named[2 * PATH_MAX];
    path = seen(path, named);
    if (!is_ours(path)) return syscall(SYS_openat, folder, path, flags, mode);
    int error = is_told(path) ? 0 : fault(OP_OPEN);
    if (error > 0) return fail(error);
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    if (read_only && writes) return fail(EROFS);
    struct stat found;
    pthread_mutex_lock(&names);
    int exists = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    if ((flags & O_CREAT) && !exists) note("C %s\n", path);
    if ((flags & O_TRUNC) && exists && stat(path, &found) == 0)
        note("T %llu 0\n", (unsigned long long)found.st_ino);
    int fd = syscall(SYS_openat, folder, path, flags, mode);
    int saved = errno;
    pthread_mutex_unlock(&names);
    if (fd >= 0 && fd < FDS_MAX && !is_told(path))
        tracked[fd] = fstat(fd, &found) == 0 && S_ISDIR(found.st_mode) ? 2 : 1;
    errno = saved;
    return fd;
}

#define MODE_ARGUMENT(flags, mode)                      \
    mode_t mode = 0;                                    \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {            \
        va_list arguments;                              \
        va_start(arguments, flags);                     \
        mode = va_arg(arguments, mode_t);               \
        va_end(arguments);                              \
    }

int open(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_any(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_any(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_any(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_any(folder, path, flags, mode);
}
int creat(const char *path, mode_t mode) {
    return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char *path, mode_t mode) {
    return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd) {
    if (kind_of(fd)) tracked[fd] = 0;
    return syscall(SYS_close, fd);
}

/* How many of `count` bytes may be written; an error sets errno and gives -1. */
static ssize_t allowed(int fd, enum op op, size_t count) {
    if (!kind_of(fd)) return count;
    int error = fault(op);
    if (error > 0) return fail(error);
    if (error < 0 && count > 1) count /= 2;
    if (budget == LLONG_MAX) return count;
    long long left = atomic_fetch_sub(&budget, (long long)count);
    if (left <= 0) return fail(ENOSPC);
    return left < (long long)count ? left : (ssize_t)count;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t some = allowed(fd, OP_WRITE, count);
    return some < 0 ? -1 : syscall(SYS_write, fd, bytes, some);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    ssize_t some = allowed(fd, OP_WRITE, count);
    return some < 0 ? -1 : syscall(SYS_pwrite64, fd, bytes, some, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    return pwrite(fd, bytes, count, offset);
}

static ssize_t read_at(int fd, void *bytes, size_t count, off_t offset) {
    int error = kind_of(fd) ? fault(OP_READ) : 0;
    if (error > 0) return fail(error);
    if (error < 0 && count > 1) count /= 2;
    return syscall(SYS_pread64, fd, bytes, count, offset);
}
ssize_t pread(int fd, void *bytes, size_t count, off_t offset) { return read_at(fd, bytes, count, offset); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) { return read_at(fd, bytes, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!kind_of(fd) || count < 1) return syscall(SYS_writev, fd, parts, count);
    ssize_t some = allowed(fd, OP_WRITE, parts[0].iov_len);
    return some < 0 ? -1 : syscall(SYS_write, fd, parts[0].iov_base, some);
}

static int cut(int fd, off_t length) {
    struct stat found;
    if (kind_of(fd) && fstat(fd, &found) == 0) {
        pthread_mutex_lock(&names);
        note("T %llu %lld\n", (unsigned long long)found.st_ino, (long long)length);
        pthread_mutex_unlock(&names);
    }
    return syscall(SYS_ftruncate, fd, length);
}
int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }

static int reserve(int fd, int mode, off_t offset, off_t length) {
    if (kind_of(fd)) {
        int error = fault(OP_FALLOCATE);
        if (error > 0) return fail(error);
        if (budget <= 0) return fail(ENOSPC);
    }
    return syscall(SYS_fallocate, fd, mode, offset, length);
}
int fallocate(int fd, int mode, off_t offset, off_t length) { return reserve(fd, mode, offset, length); }
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return reserve(fd, mode, offset, length); }

static int sync_any(int fd, enum op op, long number) {
    int kind = kind_of(fd);
    if (!kind) return syscall(number, fd);
    int error = fault(op);
    if (error > 0) return fail(error);
    if (lies) return 0;
    struct stat found;
    if (journal < 0 || fstat(fd, &found) != 0) return syscall(number, fd);
    pthread_mutex_lock(&names);
    long before = events;
    pthread_mutex_unlock(&names);
    int result = syscall(number, fd);
    int saved = errno;
    struct stat top;
    pthread_mutex_lock(&names);
    if (result == 0 && kind == 1)
        note("S %llu %lld\n", (unsigned long long)found.st_ino, (long long)found.st_size);
    else if (result == 0)
        note("%c %ld\n", stat(root, &top) == 0 && top.st_ino == found.st_ino ? 'P' : 'D', before);
    pthread_mutex_unlock(&names);
    errno = saved;
    return result;
}
int fsync(int fd) { return sync_any(fd, OP_FSYNC, SYS_fsync); }
int fdatasync(int fd) { return sync_any(fd, OP_FDATASYNC, SYS_fdatasync); }

static int rename_any(int from_folder, const char *from, int to_folder, const char *to) {
    char from_named[2 * PATH_MAX], to_named[2 * PATH_MAX];
    from = seen(from, from_named);
    to = seen(to, to_named);
    if (!is_ours(from) && !is_ours(to)) return syscall(SYS_renameat, from_folder, from, to_folder, to);
    int error = is_told(from) ? 0 : fault(OP_RENAME);
    if (error > 0) return fail(error);
    if (read_only) return fail(EROFS);
    char grave[PATH_MAX + 32];
    pthread_mutex_lock(&names);
    bury(to, grave, sizeof grave);
    note("R %s %s %s\n", from, to, grave);
    int result = syscall(SYS_renameat, from_folder, from, to_folder, to);
    int saved = errno;
    pthread_mutex_unlock(&names);
    errno = saved;
    return result;
}
int rename(const char *from, const char *to) { return rename_any(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return rename_any(from_folder, from, to_folder, to);
}

/* A further name of a file; by another folder than the working one it is not noted. */
int link(const char *from, const char *to) {
    char from_named[2 * PATH_MAX], to_named[2 * PATH_MAX];
    from = seen(from, from_named);
    to = seen(to, to_named);
    if (!is_ours(to)) return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    int error = fault(OP_RENAME);
    if (error > 0) return fail(error);
    if (read_only) return fail(EROFS);
    pthread_mutex_lock(&names);
    note("C %s\n", to);
    int result = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    int saved = errno;
    pthread_mutex_unlock(&names);
    errno = saved;
    return result;
}

static int remove_any(int folder, const char *path, int flags) {
    char named[2 * PATH_MAX];
    path = seen(path, named);
    if (!is_ours(path)) return syscall(SYS_unlinkat, folder, path, flags);
    int error = is_told(path) ? 0 : fault(OP_UNLINK);
    if (error > 0) return fail(error);
    if (read_only) return fail(EROFS);
    char grave[PATH_MAX + 32];
    pthread_mutex_lock(&names);
    bury(path, grave, sizeof grave);
    note("U %s %s\n", path, grave);
    int result = syscall(SYS_unlinkat, folder, path, flags);
    int saved = errno;
    pthread_mutex_unlock(&names);
    errno = saved;
    return result;
}
int unlink(const char *path) { return remove_any(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_any(folder, path, flags); }

int mkdir(const char *path, mode_t mode) {
    char named[2 * PATH_MAX];
    path = seen(path, named);
    if (!is_ours(path)) return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    pthread_mutex_lock(&names);
    int exists = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    if (!exists) note("M %s\n", path);
    if (read_only && !exists) {
        pthread_mutex_unlock(&names);
        return fail(EROFS);
    }
    int result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    int saved = errno;
    pthread_mutex_unlock(&names);
    errno = saved;
    return result;
}
