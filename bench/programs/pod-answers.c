/*
 * Sends HTTP requests to an address in a loop, each by a new connection, and records for each pod that answered (its
 * name is in the header X-Pod) the times of its first and last answer.
 *
 * pod-answers ADDRESS PORT PAUSE_US. stdin: `tell\n` or `reset\n`, which forgets everything; stdout, for either: a line
 * of `POD FIRST_NS LAST_NS COUNT`, separated by `;`, then `- 0 0 FAILED`. Times are on CLOCK_MONOTONIC, when the answer
 * was read.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPT_MS 20
#define MOST_PODS 16

struct pod {
	char name[64];
	long long first, last;
	unsigned count;
};

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static bool ready(int fd, short events, int limit_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	return poll(&p, 1, limit_ms) == 1;
}

/* The pod's name, or an empty string. */
static void ask(const struct sockaddr_in *to, char name[64])
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
	char reply[2048];
	const char *header;
	ssize_t size = 0;
	/* A reset instead of FINs: a thousand connections a second must not use up the ports. */
	struct linger reset = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	name[0] = '\0';
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if ((connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 || errno == EINPROGRESS) &&
	    ready(fd, POLLOUT, ATTEMPT_MS) &&
	    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1 && ready(fd, POLLIN, ATTEMPT_MS))
		size = recv(fd, reply, sizeof(reply) - 1, 0);
	close(fd);
	if (size <= 0)
		return;
	reply[size] = '\0';
	header = strcasestr(reply, "\r\nx-pod: ");
	if (header != NULL)
		sscanf(header + 9, "%63[^\r\n]", name);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct pod pods[MOST_PODS];
	int known = 0;
	unsigned failed = 0;
	char line[64], name[64];

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		if (ready(STDIN_FILENO, POLLIN, 0)) {
			if (!fgets(line, sizeof(line), stdin))
				return 0;
			for (int n = 0; n < known; n++)
				printf("%s %lld %lld %u;", pods[n].name, pods[n].first, pods[n].last, pods[n].count);
			printf("- 0 0 %u\n", failed);
			fflush(stdout);
			if (strncmp(line, "reset", 5) == 0)
				known = failed = 0;
		}
		ask(&to, name);
		if (name[0] != '\0') {
			long long now = now_ns();
			int n = 0;

			while (n < known && strcmp(pods[n].name, name) != 0)
				n++;
			if (n == known && known < MOST_PODS) {
				memset(&pods[n], 0, sizeof(pods[n]));
				strcpy(pods[n].name, name);
				pods[n].first = now;
				known++;
			}
			if (n < known) {
				pods[n].last = now;
				pods[n].count++;
			}
		} else {
			failed++;
		}
		usleep(atoi(argv[3]));
	}
}
