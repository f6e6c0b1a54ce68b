/*
 * Preloaded into a process under test: shifts its wall-clock time by the nanoseconds in the file named by
 * SPOUT_WALL_CLOCK, which may change at any time. Clocks that never jump and other processes are not affected. The
 * kernel's own uses of wall-clock time (timerfd, file times) do not jump.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_ns;

__attribute__((constructor)) static void open_offset(void)
{
	const char *path = getenv("SPOUT_WALL_CLOCK");
	int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (mapped != MAP_FAILED)
		offset_ns = mapped;
}

static int read_clock(clockid_t clock, struct timespec *out)
{
	int64_t shifted;

	if (syscall(SYS_clock_gettime, clock, out) != 0)
		return -1;
	if (offset_ns == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
		return 0;
	shifted = (int64_t)out->tv_sec * 1000000000 + out->tv_nsec + *offset_ns;
	out->tv_sec = shifted / 1000000000;
	out->tv_nsec = shifted % 1000000000;
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	return read_clock(clock, out);
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (read_clock(CLOCK_REALTIME, &now) != 0)
		return -1;
	*out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	if (read_clock(CLOCK_REALTIME, &now) != 0)
		return -1;
	if (out != NULL)
		*out = now.tv_sec;
	return now.tv_sec;
}
