#include "namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int own = -1;

bool namespace_remember(void)
{
	own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return own >= 0;
}

bool namespace_enter(const char *path, dev_t *fs, ino_t *inode)
{
	struct stat status;
	/* O_NONBLOCK: opening a FIFO must not block the daemon. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (fstat(fd, &status) < 0 || ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET || setns(fd, CLONE_NEWNET) < 0) {
		close(fd);
		errno = EINVAL;
		return false;
	}
	*fs = status.st_dev;
	*inode = status.st_ino;
	close(fd);
	return true;
}

void namespace_leave(void)
{
	/* The process must not continue in a wrong namespace. */
	if (setns(own, CLONE_NEWNET) < 0)
		abort();
}
