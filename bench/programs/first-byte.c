/*
 * Sends HTTP requests to an address until it answers 200, and prints when that was. One process for many measurements,
 * so that no process start is measured.
 *
 * stdin: `ADDRESS PORT [HOST]\n`, host `bench` unless another is given; stdout: `NANOSECONDS ATTEMPTS\n`, the time on
 * CLOCK_MONOTONIC when the status line was read, or `-1 ATTEMPTS` after DEADLINE_MS.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The kernel repeats a lost SYN only after a second: connect anew much earlier. */
#define ATTEMPT_MS 10
#define PAUSE_US 300
#define DEADLINE_MS 20000

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static bool ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	return poll(&p, 1, ATTEMPT_MS) == 1;
}

static bool answers(const struct sockaddr_in *to, const char *request)
{
	ssize_t length = strlen(request);
	char reply[64];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	bool ok = false;

	if (fd < 0)
		return false;
	if ((connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 || errno == EINPROGRESS) && ready(fd, POLLOUT) &&
	    send(fd, request, length, MSG_NOSIGNAL) == length && ready(fd, POLLIN)) {
		ssize_t n = recv(fd, reply, sizeof(reply), 0);
		ok = n >= 12 && memcmp(reply + 8, " 200", 4) == 0;
	}
	close(fd);
	return ok;
}

int main(void)
{
	char line[256], address[64], host[128], request[256];
	unsigned port;

	while (fgets(line, sizeof(line), stdin)) {
		struct sockaddr_in to = { .sin_family = AF_INET };
		long long deadline = now_ns() + DEADLINE_MS * 1000000LL;
		int attempts = 1;

		strcpy(host, "bench");
		if (sscanf(line, "%63s %u %127s", address, &port, host) < 2 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
			return 2;
		to.sin_port = htons(port);
		snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host);
		while (!answers(&to, request) && now_ns() < deadline) {
			attempts++;
			usleep(PAUSE_US);
		}
		printf("%lld %d\n", now_ns() < deadline ? now_ns() : -1LL, attempts);
		fflush(stdout);
	}
	return 0;
}
