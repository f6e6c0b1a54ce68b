/*
 * Times TCP connects. Each is closed by a reset so that it occupies no port afterwards.
 *
 * connect-rate COUNT PORT ADDRESS...: the addresses take turns. stdout: one number a line, nanoseconds; -1 for a
 * failure.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct timeval limit = { .tv_sec = 2 };
	int count = argc > 3 ? atoi(argv[1]) : -1;

	if (count < 0)
		return 2;
	for (int i = 0; i < count; i++) {
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[2])) };
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		long long started;
		int refused;

		inet_pton(AF_INET, argv[3 + i % (argc - 3)], &to.sin_addr);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		started = now_ns();
		refused = connect(fd, (struct sockaddr *)&to, sizeof(to));
		printf("%lld\n", refused ? -1LL : now_ns() - started);
		close(fd);
	}
	return 0;
}
