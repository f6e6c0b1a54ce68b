/*
 * Requests `/` from an address at a fixed rate, each time by a new connection, and prints how long that took. It runs
 * under SCHED_FIFO, so that a busy machine delays the measured system and not the measurement.
 *
 * request-latency ADDRESS PORT
 * stdin: `COUNT INTERVAL_US`; stdout: `COUNT FAILED P50_US P99_US MAX_US`, from before connect() to the first byte of a
 * 200. A request that takes longer than LIMIT_MS has failed, and counts with that time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

#define LIMIT_MS 2000

static bool ready(int fd, short events, long long deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	long long left = deadline - now_ns();

	return left > 0 && poll(&p, 1, (int)(left / MS) + 1) == 1;
}

static bool ask(const struct sockaddr_in *to)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	long long deadline = now_ns() + LIMIT_MS * MS;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	char reply[64];
	bool ok = false;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if ((connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 || errno == EINPROGRESS) &&
	    ready(fd, POLLOUT, deadline) && send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1 &&
	    ready(fd, POLLIN, deadline)) {
		ssize_t n = recv(fd, reply, sizeof(reply), 0);

		ok = n >= 12 && memcmp(reply + 8, " 200", 4) == 0;
	}
	close(fd);
	return ok;
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	char line[64];

	if (argc != 3 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	become_realtime(20);
	while (fgets(line, sizeof(line), stdin)) {
		int count = 0, interval_us = 0, failed = 0;
		long long *took, due;

		if (sscanf(line, "%d %d", &count, &interval_us) != 2 || count < 1 || !(took = calloc(count, sizeof(*took))))
			return 2;
		due = now_ns();
		for (int i = 0; i < count; i++) {
			long long started, wait = due - now_ns();

			if (wait > 0)
				usleep(wait / 1000);
			due += interval_us * 1000LL;
			started = now_ns();
			if (!ask(&to)) {
				failed++;
				took[i] = LIMIT_MS * MS;
			} else {
				took[i] = now_ns() - started;
			}
			/* A late answer does not make the next requests come all at once. */
			if (due < now_ns())
				due = now_ns();
		}
		qsort(took, count, sizeof(*took), ascending);
		printf("%d %d %.1f %.1f %.1f\n", count, failed, took[count / 2] / 1e3, took[(count * 99 - 1) / 100] / 1e3,
		       took[count - 1] / 1e3);
		fflush(stdout);
		free(took);
	}
	return 0;
}
