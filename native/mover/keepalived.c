#include "keepalived.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The 22nd field of /proc/PID/stat; the second, a name, may contain anything. */
static void read_start(struct keepalived *out)
{
	char path[64], text[1024], *at;
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)out->pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < 22; field++) {
		at = strchr(at, ' ');
		at = at == NULL ? NULL : at + 1;
	}
	if (at != NULL && strcspn(at, " ") < sizeof(out->start))
		snprintf(out->start, sizeof(out->start), "%.*s", (int)strcspn(at, " "), at);
}

void keepalived_parent(struct keepalived *out)
{
	*out = (struct keepalived){.pid = getppid(), .fd = -1};
	if (out->pid <= 1)
		return;
	out->fd = (int)syscall(SYS_pidfd_open, out->pid, 0);
	/* The process may have died meanwhile, and another one may have its number. */
	if (getppid() != out->pid && out->fd >= 0) {
		close(out->fd);
		out->fd = -1;
	}
	if (out->fd >= 0)
		read_start(out);
}

bool keepalived_inherit(struct keepalived *out, int fd)
{
	char path[64], line[128];
	FILE *file;

	*out = (struct keepalived){.fd = fd};
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "Pid:", 4) == 0)
			out->pid = atoi(line + 4);
	if (file != NULL)
		fclose(file);
	if (out->pid <= 1 || !keepalived_alive(out))
		return false;
	read_start(out);
	return true;
}

bool keepalived_alive(const struct keepalived *keepalived)
{
	struct pollfd end = {.fd = keepalived->fd, .events = POLLIN};
	return keepalived->fd >= 0 && poll(&end, 1, 0) == 0;
}

void keepalived_give_way(const struct keepalived *keepalived)
{
	if (keepalived->fd >= 0)
		syscall(SYS_pidfd_send_signal, keepalived->fd, SIGKILL, NULL, 0);
}
