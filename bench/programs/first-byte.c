/*
 * Sends HTTP requests to an address until it answers 200, and prints when that was. One process for many measurements,
 * so that no process start is measured.
 *
 * stdin: `ADDRESS PORT [HOST [PATH [BODY]]]\n`, host `bench` and path `/` unless others are given, until this body unless
 * none is given; stdout: `NANOSECONDS ATTEMPTS WRONG\n`, the time on CLOCK_MONOTONIC when the answer was read, or
 * `-1 ATTEMPTS WRONG` after DEADLINE_MS. Wrong is every answer but 404 and 200, and a connection that was refused or broken.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

#define LATE 0
#define BROKEN -1
/* A 200 with another body. */
#define OTHER 1

/* The status code, LATE, BROKEN or OTHER. */
static int answer(const struct sockaddr_in *to, const char *request, const char *body)
{
	ssize_t length = strlen(request);
	char reply[1024];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int code = LATE;

	if (fd < 0)
		return BROKEN;
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) != 0 && errno != EINPROGRESS) {
		code = BROKEN;
	} else if (ready(fd, POLLOUT)) {
		if (send(fd, request, length, MSG_NOSIGNAL) != length) {
			code = BROKEN;
		} else if (ready(fd, POLLIN)) {
			ssize_t n = recv(fd, reply, sizeof(reply) - 1, 0);

			reply[n < 0 ? 0 : n] = 0;
			code = n >= 12 ? atoi(reply + 9) : BROKEN;
			if (code == 200 && *body && ((size_t)n < strlen(body) || strcmp(reply + n - strlen(body), body) != 0))
				code = OTHER;
		}
	}
	close(fd);
	return code;
}

int main(void)
{
	char line[512], address[64], host[128], path[128], body[64], request[512];
	unsigned port;

	while (fgets(line, sizeof(line), stdin)) {
		struct sockaddr_in to = { .sin_family = AF_INET };
		long long deadline = now_ns() + DEADLINE_MS * 1000000LL;
		int attempts = 1, wrong = 0, code;

		strcpy(host, "bench");
		strcpy(path, "/");
		*body = 0;
		if (sscanf(line, "%63s %u %127s %127s %63s", address, &port, host, path, body) < 2 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
			return 2;
		to.sin_port = htons(port);
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path,
			 host);
		while ((code = answer(&to, request, body)) != 200 && now_ns() < deadline) {
			attempts++;
			wrong += code != 404 && code != LATE && code != OTHER;
			usleep(PAUSE_US);
		}
		printf("%lld %d %d\n", code == 200 ? now_ns() : -1LL, attempts, wrong);
		fflush(stdout);
	}
	return 0;
}
