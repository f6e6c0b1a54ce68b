#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH 4096

int directory_watch(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd >= 0 && inotify_add_watch(fd, path, IN_MOVED_TO | IN_CLOSE_WRITE) >= 0)
		return fd;
	return -1;
}

bool directory_changed(int fd, const char *name)
{
	_Alignas(struct inotify_event) char data[8192];
	bool changed = false;
	ssize_t len;

	while ((len = read(fd, data, sizeof(data))) > 0)
		for (char *at = data; at < data + len;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			/* Events were lost; one may have been about this file. */
			if ((event->mask & IN_Q_OVERFLOW) || (event->len > 0 && strcmp(event->name, name) == 0))
				changed = true;
			at += sizeof(*event) + event->len;
		}
	return changed;
}

char *directory_read(const char *directory, const char *name, size_t most)
{
	char path[MAX_PATH];
	struct stat status;
	size_t len = 0;
	char *text;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || (size_t)status.st_size > most) {
		close(fd);
		return NULL;
	}
	text = memory_new((size_t)status.st_size + 1);
	while (len < (size_t)status.st_size) {
		ssize_t got = read(fd, text + len, (size_t)status.st_size - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	/* A NUL would silently end the text. */
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = '?';
	return text;
}

bool directory_write(const char *directory, const char *name, const struct buf *text)
{
	char path[MAX_PATH], aside[MAX_PATH];
	bool written;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(aside, sizeof(aside), "%s/%s.new", directory, name);
	fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	written = fd >= 0 && write(fd, text->data, text->len) == (ssize_t)text->len;
	if (fd >= 0)
		close(fd);
	return written && rename(aside, path) == 0;
}
