#include "closer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int queue[2] = {-1, -1};

static void *close_all(void *unused)
{
	int fd;

	(void)unused;
	while (read(queue[0], &fd, sizeof(fd)) == sizeof(fd))
		close(fd);
	return NULL;
}

bool closer_start(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	bool started;

	if (pipe2(queue, O_CLOEXEC) < 0)
		return false;
	fcntl(queue[1], F_SETFL, O_NONBLOCK);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	started = pthread_create(&thread, &attributes, close_all, NULL) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

void close_aside(int fd)
{
	if (fd >= 0 && write(queue[1], &fd, sizeof(fd)) != sizeof(fd))
		close(fd);
}
