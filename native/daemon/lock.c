#include "lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 300
#define KILLED_MS 2000

static int open_lock(const char *directory)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/lock", directory);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* Uses a pidfd, so that it never kills a process that reuses the number. */
static void kill_mover(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *file;

	if (pid <= 1 || pid == getpid())
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(name, sizeof(name), file) != NULL && strncmp(name, "spout-", 6) == 0)
		kill(pid, SIGKILL);
	fclose(file);
}

struct holder {
	int daemon, guard;
};

static bool read_holder(int fd, struct holder *holder)
{
	char text[64] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && sscanf(text, "%d %d", &holder->daemon, &holder->guard) == 2;
}

static void kill_holder(int fd)
{
	struct holder holder;

	if (!read_holder(fd, &holder))
		return;
	/* The watchdog first, since it would restart the mover. */
	kill_mover(holder.guard);
	kill_mover(holder.daemon);
}

/* The process that this one watched has ended or is ending. The kernel may take a while to close its descriptors. */
static bool guarded_by_us(int fd)
{
	struct holder holder;

	return read_holder(fd, &holder) && holder.guard == getpid();
}

bool lock_take(const char *directory, pid_t guard, bool patient)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	char text[64];
	int fd = open_lock(directory), waited = 0;

	if (fd < 0)
		return false;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (waited > PATIENCE_MS + KILLED_MS || (!patient && !guarded_by_us(fd))) {
			close(fd);
			return false;
		}
		if (patient && waited >= PATIENCE_MS && waited % 50 == 0)
			kill_holder(fd);
		nanosleep(&pause, NULL);
		waited++;
	}
	snprintf(text, sizeof(text), "%d %d\n", (int)getpid(), (int)guard);
	/* The descriptor stays open: closing it would release the lock. */
	return ftruncate(fd, 0) == 0 && pwrite(fd, text, strlen(text), 0) > 0;
}

bool lock_free(const char *directory)
{
	int fd = open_lock(directory);
	bool got = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return got;
}
