/*
 * N clients, each with one kept-alive HTTP connection and a request every few milliseconds, until stdin ends. Then, and
 * at every line on stdin, it prints `REQUESTS FAILED RECONNECTS LONGEST_GAP_MS` and counts anew. The gap is a client's
 * longest time from one answer to the next, including the one still open. A connection that ends regularly between two
 * requests is a reconnect, as for any HTTP client; everything else that is no 200 is a failure.
 *
 * keep-alive-clients ADDRESS PORT CLIENTS [HOSTS]: with HOSTS they ask for r0.example.com and so on at random, else for `bench`
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "clock.h"

#define PAUSE_US 2000
#define MOST_CLIENTS 64

static struct sockaddr_in to = { .sin_family = AF_INET };
static int hosts;
static atomic_bool ending;
static atomic_long requests, failed, reconnects;
static atomic_llong answered[MOST_CLIENTS], longest[MOST_CLIENTS];

static int open_connection(void)
{
	struct timeval limit = { .tv_sec = 2 };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The whole answer: its head tells the length of the body, and whether the connection is over with it (RFC 9112, 9.6). */
static bool read_answer(int fd, bool *last)
{
	char buffer[8192];
	size_t have = 0;

	for (;;) {
		char *end, *length;
		ssize_t n = recv(fd, buffer + have, sizeof(buffer) - 1 - have, 0);

		if (n <= 0)
			return false;
		have += n;
		buffer[have] = 0;
		end = strstr(buffer, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(buffer, "\r\ncontent-length:");
		if (!length || length > end)
			return false;
		if (have < (size_t)(end + 4 - buffer) + strtoul(length + 17, NULL, 10))
			continue;
		*end = 0;
		*last = strcasestr(buffer, "\r\nconnection: close") != NULL;
		return memcmp(buffer + 8, " 200", 4) == 0;
	}
}

static bool closed_meanwhile(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };
	return poll(&p, 1, 0) == 1;
}

static void *client(void *place)
{
	int n = (int)(long)place;
	char request[128] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
	unsigned seed = n;
	int fd = -1;
	bool last = false;

	while (!ending) {
		if (fd >= 0 && (last || closed_meanwhile(fd))) {
			close(fd);
			fd = -1;
			reconnects++;
		}
		if (fd < 0) {
			fd = open_connection();
			last = false;
		}
		if (hosts)
			snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: r%d.example.com\r\n\r\n", rand_r(&seed) % hosts);
		requests++;
		if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request) || !read_answer(fd, &last)) {
			failed++;
			if (fd >= 0)
				close(fd);
			fd = -1;
		} else {
			long long now = now_ns();
			if (now - answered[n] > longest[n])
				longest[n] = now - answered[n];
			answered[n] = now;
		}
		usleep(PAUSE_US);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void tell(int count)
{
	long long gap = 0, now = now_ns();

	for (int n = 0; n < count; n++) {
		long long open = now - answered[n], most = longest[n] > open ? longest[n] : open;
		if (most > gap)
			gap = most;
		longest[n] = 0;
	}
	printf("%ld %ld %ld %.1f\n", requests, failed, reconnects, gap / 1e6);
	fflush(stdout);
	requests = failed = reconnects = 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_CLIENTS];
	int count = argc == 4 || argc == 5 ? atoi(argv[3]) : 0;
	char byte;

	if (count < 1 || count > MOST_CLIENTS || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	hosts = argc == 5 ? atoi(argv[4]) : 0;
	for (int i = 0; i < count; i++) {
		answered[i] = now_ns();
		pthread_create(&threads[i], NULL, client, (void *)(long)i);
	}
	while (read(0, &byte, 1) > 0)
		if (byte == '\n')
			tell(count);
	ending = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	tell(count);
	return 0;
}
