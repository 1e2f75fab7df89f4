/*
 * newlib's system calls over semihosting: files of the host for the boards.
 *
 * librdimon has them, too, but every one of its calls starts up stdio, which allocates; with no heap it then writes
 * through a null pointer. These need 64 bytes for positions and nothing else, and leave out what is not used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_SEEK = 0x0a,
    SYS_FLEN = 0x0c,
    SYS_REMOVE = 0x0e,
    SYS_RENAME = 0x0f,
    SYS_TIME = 0x11,
};

/* Modes of SYS_OPEN: those of fopen(), binary. */
enum { MODE_R = 1, MODE_RP = 3, MODE_W = 5, MODE_WP = 7, MODE_TEXT_R = 0, MODE_TEXT_W = 4, MODE_TEXT_A = 8 };

enum { FILES = 6, LONGEST_PATH = 248 };

/* Descriptors 0 to 2 are the console, opened when first used. Semihosting has no "current position": we keep it. */
static struct {
    int handle_plus_one; /* 0: free */
    uint32_t position;
    const char* path; /* the caller's; only ftruncate() looks at it */
} files[FILES];

static int semihosting(int operation, const void* parameters) {
    register int r0 __asm__("r0") = operation;
    register const void* r1 __asm__("r1") = parameters;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int failed(int error) {
    errno = error;
    return -1;
}

static int host_open(const char* path, int mode) {
    const uintptr_t parameters[3] = {(uintptr_t)path, (uintptr_t)mode, strlen(path)};
    return semihosting(SYS_OPEN, parameters);
}

static int valid(int file) {
    static const unsigned char console[3] = {MODE_TEXT_R, MODE_TEXT_W, MODE_TEXT_A};
    if (file < 0 || file >= FILES) {
        return 0;
    }
    if (files[file].handle_plus_one == 0 && file < 3) {
        files[file].handle_plus_one = host_open(":tt", console[file]) + 1;
    }
    return files[file].handle_plus_one != 0;
}

static int host_length(int file) {
    const uintptr_t parameters[1] = {(uintptr_t)(files[file].handle_plus_one - 1)};
    return semihosting(SYS_FLEN, parameters);
}

static int host_seek(int file, uint32_t position) {
    const uintptr_t parameters[2] = {(uintptr_t)(files[file].handle_plus_one - 1), position};
    return semihosting(SYS_SEEK, parameters);
}

int _open(const char* path, int flags, ...) {
    int file = 3;
    while (file < FILES && files[file].handle_plus_one != 0) {
        ++file;
    }
    if (file == FILES) {
        return failed(EMFILE);
    }
    const int access = flags & O_ACCMODE;
    int handle = -1;
    if ((flags & O_TRUNC) == 0 || access == O_RDONLY || (flags & O_CREAT) == 0 || (flags & O_EXCL) != 0) {
        /* No mode of fopen() creates a file without emptying one that exists: try what keeps it first. */
        handle = host_open(path, access == O_RDONLY ? MODE_R : MODE_RP);
    }
    if (handle >= 0 && (flags & O_EXCL) != 0 && (flags & O_CREAT) != 0) {
        const uintptr_t parameters[1] = {(uintptr_t)handle};
        semihosting(SYS_CLOSE, parameters);
        return failed(EEXIST);
    }
    if (handle >= 0 && (flags & O_TRUNC) != 0 && access != O_RDONLY) {
        const uintptr_t parameters[1] = {(uintptr_t)handle};
        semihosting(SYS_CLOSE, parameters);
        handle = host_open(path, MODE_WP);
    } else if (handle < 0 && (flags & O_CREAT) != 0) {
        handle = host_open(path, MODE_WP);
    }
    if (handle < 0) {
        return failed(ENOENT);
    }
    files[file].handle_plus_one = handle + 1;
    files[file].position = 0;
    files[file].path = path;
    if ((flags & O_APPEND) != 0) {
        const int length = host_length(file);
        files[file].position = length < 0 ? 0 : (uint32_t)length;
        host_seek(file, files[file].position);
    }
    return file;
}

int _close(int file) {
    if (file < 0 || file >= FILES || files[file].handle_plus_one == 0) {
        return failed(EBADF);
    }
    const uintptr_t parameters[1] = {(uintptr_t)(files[file].handle_plus_one - 1)};
    files[file].handle_plus_one = 0;
    return semihosting(SYS_CLOSE, parameters) == 0 ? 0 : failed(EIO);
}

/* Both calls of the host return the number of bytes that were not transferred. */
static int transfer(int operation, int file, const void* bytes, size_t size) {
    if (!valid(file)) {
        return failed(EBADF);
    }
    const uintptr_t parameters[3] = {(uintptr_t)(files[file].handle_plus_one - 1), (uintptr_t)bytes, size};
    const int left = semihosting(operation, parameters);
    if (left < 0 || (size_t)left > size || (operation == SYS_WRITE && size > 0 && (size_t)left == size)) {
        return failed(EIO);
    }
    files[file].position += size - (size_t)left;
    return (int)(size - (size_t)left);
}

int _read(int file, void* bytes, size_t size) { return transfer(SYS_READ, file, bytes, size); }
int _write(int file, const void* bytes, size_t size) { return transfer(SYS_WRITE, file, bytes, size); }

off_t _lseek(int file, off_t offset, int whence) {
    if (!valid(file)) {
        return failed(EBADF);
    }
    if (file < 3) {
        return failed(ESPIPE);
    }
    int64_t position = offset;
    if (whence == SEEK_CUR) {
        position += files[file].position;
    } else if (whence == SEEK_END) {
        const int length = host_length(file);
        if (length < 0) {
            return failed(EIO);
        }
        position += length;
    } else if (whence != SEEK_SET) {
        return failed(EINVAL);
    }
    if (position < 0 || position > INT32_MAX) {
        return failed(EINVAL);
    }
    if (host_seek(file, (uint32_t)position) != 0) {
        return failed(EIO);
    }
    files[file].position = (uint32_t)position;
    return (off_t)position;
}

int _fstat(int file, struct stat* status) {
    if (!valid(file)) {
        return failed(EBADF);
    }
    memset(status, 0, sizeof *status);
    status->st_mode = file < 3 ? S_IFCHR : S_IFREG;
    status->st_blksize = file < 3 ? 128 : 512;
    if (file >= 3) {
        const int length = host_length(file);
        if (length < 0) {
            return failed(EIO);
        }
        status->st_size = length;
    }
    return 0;
}

int _stat(const char* path, struct stat* status) {
    const int file = _open(path, O_RDONLY);
    if (file < 0) {
        return -1;
    }
    const int result = _fstat(file, status);
    _close(file);
    return result;
}

int _isatty(int file) { return file >= 0 && file < 3 ? 1 : failed(ENOTTY); }

int _unlink(const char* path) {
    const uintptr_t parameters[2] = {(uintptr_t)path, strlen(path)};
    return semihosting(SYS_REMOVE, parameters) == 0 ? 0 : failed(ENOENT);
}

int _rename(const char* from, const char* to) {
    const uintptr_t parameters[4] = {(uintptr_t)from, strlen(from), (uintptr_t)to, strlen(to)};
    return semihosting(SYS_RENAME, parameters) == 0 ? 0 : failed(ENOENT);
}

int _gettimeofday(struct timeval* now, void* zone) {
    (void)zone;
    now->tv_sec = semihosting(SYS_TIME, NULL);
    now->tv_usec = 0;
    return 0;
}

/* The host writes at once and says nothing about its disk. */
int fsync(int file) { return valid(file) ? 0 : failed(EBADF); }

/* Semihosting can make a file longer (by writing zeros), not shorter: what stays of it is copied to PATH~, which takes
 * its place. The path given to open() must still be there. */
static int shorten(int file, uint32_t length) {
    char copy_path[LONGEST_PATH + 2];
    char bytes[64];
    const char* const path = files[file].path;
    const size_t path_length = strlen(path);
    if (path_length > LONGEST_PATH) {
        return failed(ENOSYS);
    }
    memcpy(copy_path, path, path_length);
    memcpy(copy_path + path_length, "~", 2);
    const int copy = _open(copy_path, O_RDWR | O_CREAT | O_TRUNC);
    if (copy < 0) {
        return failed(EIO);
    }
    int good = host_seek(file, 0) == 0;
    while (good && length > 0) {
        const size_t count = length < sizeof bytes ? length : sizeof bytes;
        good = transfer(SYS_READ, file, bytes, count) == (int)count &&
               transfer(SYS_WRITE, copy, bytes, count) == (int)count;
        length -= count;
    }
    _close(copy);
    if (!good || _rename(copy_path, path) != 0) {
        _unlink(copy_path);
        return failed(EIO);
    }
    const uintptr_t parameters[1] = {(uintptr_t)(files[file].handle_plus_one - 1)};
    semihosting(SYS_CLOSE, parameters);
    files[file].handle_plus_one = host_open(path, MODE_RP) + 1;
    return files[file].handle_plus_one != 0 ? 0 : failed(EIO);
}

int ftruncate(int file, off_t length) {
    static const char zeros[64];
    if (!valid(file) || file < 3 || length < 0) {
        return failed(EBADF);
    }
    int have = host_length(file);
    if (have < 0) {
        return failed(EIO);
    }
    const uint32_t position = files[file].position;
    int result = length < have ? shorten(file, (uint32_t)length) : host_seek(file, (uint32_t)have);
    while (result == 0 && have < length) {
        const size_t count = (size_t)(length - have) < sizeof zeros ? (size_t)(length - have) : sizeof zeros;
        result = transfer(SYS_WRITE, file, zeros, count) == (int)count ? 0 : -1;
        have += (int)count;
    }
    if (files[file].handle_plus_one == 0) {
        return result;
    }
    files[file].position = position;
    return host_seek(file, position) == 0 && result == 0 ? 0 : failed(EIO);
}

int _getpid(void) { return 1; }
int _kill(int process, int signal) {
    (void)process;
    _exit(128 + signal);
}

#if defined(__ARM_ARCH) && __ARM_ARCH >= 7 && !defined(__ARM_FEATURE_UNALIGNED)
/* newlib's memcpy for these cores uses unaligned accesses, which fault when CCR.UNALIGN_TRP is set. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memcpy(void* restrict to, const void* restrict from,
                                                                           size_t size) {
    unsigned char* out = to;
    const unsigned char* in = from;
    if ((((uintptr_t)out | (uintptr_t)in) & 3) == 0) {
        for (; size >= 4; size -= 4, out += 4, in += 4) {
            *(uint32_t*)(void*)out = *(const uint32_t*)(const void*)in;
        }
    }
    while (size-- > 0) {
        *out++ = *in++;
    }
    return to;
}
#endif
