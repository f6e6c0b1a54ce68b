#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../daemon/lock.h"

#define SUCCESSOR_S 2
/* Limits how often in a row a mover that dies at once is restarted. */
#define MAX_RESUMED 5
#define LIVED_US 10000000

static void call(char *const *paths, const char *what, int fd, unsigned resumed)
{
	char descriptor[16], count[16];

	snprintf(descriptor, sizeof(descriptor), "%d", fd);
	snprintf(count, sizeof(count), "%u", resumed);
	execl("/proc/self/exe", "spout-mover", what, descriptor, count, paths[0], paths[1], (char *)NULL);
	_exit(1);
}

static void wait_for_end(int pipe_fd, int keepalived_fd, unsigned resumed, char *const *paths)
{
	const struct timespec patience = {.tv_sec = SUCCESSOR_S};
	uint64_t since = now_us();
	char how = 0;
	ssize_t got;

	do
		got = read(pipe_fd, &how, 1);
	while (got < 0 && errno == EINTR);
	if (got == 1 && how == FAREWELL_END)
		_exit(0);
	if (got == 1) {
		nanosleep(&patience, NULL);
		if (!lock_free(paths[0]))
			_exit(0);
		call(paths, "--sweep", keepalived_fd, 0);
	}
	if (now_us() - since > LIVED_US)
		resumed = 0;
	call(paths, resumed < MAX_RESUMED ? "--resume" : "--sweep", keepalived_fd, resumed + 1);
}

void guard_start(struct guard *guard, const struct keepalived *keepalived, unsigned resumed, char *const *paths)
{
	int ends[2];

	*guard = (struct guard){.fd = -1};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	guard->pid = fork();
	if (guard->pid != 0) {
		close(ends[0]);
		guard->fd = ends[1];
		return;
	}
	/* keepalived signals the process group of its script. */
	setsid();
	prctl(PR_SET_NAME, "spout-guard");
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	close(ends[1]);
	/* Stays open across exec. */
	if (keepalived->fd >= 0)
		fcntl(keepalived->fd, F_SETFD, 0);
	wait_for_end(ends[0], keepalived->fd, resumed, paths);
}

void guard_farewell(struct guard *guard, enum farewell how)
{
	char byte = (char)how;

	if (guard->fd >= 0 && write(guard->fd, &byte, 1) != 1)
		guard->fd = -1;
}
