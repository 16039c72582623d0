/* Loaded before libc (LD_PRELOAD): counts fsync and fdatasync in the first 8 bytes of the file $FSYNC_COUNT. Where
   $FSYNC_MICROSECONDS is set, each takes that long and nothing is sent to the disk: on a file system in memory this
   is a disk whose fsync takes exactly so long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long *count;
static long microseconds = -1;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FSYNC_COUNT"), *pause = getenv("FSYNC_MICROSECONDS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file >= 0) {
        void *page = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        count = page == MAP_FAILED ? NULL : page;
        close(file);
    }
    if (pause) microseconds = atol(pause);
}

static int synced(const char *name, int file) {
    if (count) __sync_fetch_and_add(count, 1);
    if (microseconds >= 0) {
        struct timespec start, now;
        clock_gettime(CLOCK_MONOTONIC, &start);
        do clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - start.tv_sec) * 1000000L + (now.tv_nsec - start.tv_nsec) / 1000 < microseconds);
        return 0;
    }
    int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return original(file);
}

int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }
