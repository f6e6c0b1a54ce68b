/*
 * Clients that begin a request and never finish it: each opens a connection and sends a byte of its header every
 * second. One that is refused or closed tries again with the next second. Runs until stdin ends or the time is over;
 * then prints `MOST_OPEN OPENED CLOSED_BY_THE_SERVER`.
 *
 * slow-clients ADDRESS PORT CLIENTS SECONDS
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

struct client {
	int fd;
	unsigned said;
};

static const char begin[] = "GET / HTTP/1.1\r\nHost: bench\r\nX-Slow: ";

static bool drip(struct client *c)
{
	char byte = c->said < sizeof(begin) - 1 ? begin[c->said] : 'a';
	ssize_t sent = send(c->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	char answer[256];

	if (sent == 1)
		c->said++;
	/* Any answer, a 408 or the end of the stream, ends this client. */
	return (sent == 1 || errno == EAGAIN || errno == ENOTCONN || errno == EINPROGRESS) &&
	       recv(c->fd, answer, sizeof(answer), MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == ENOTCONN);
}

int main(int argc, char **argv)
{
	struct rlimit files = { 16384, 16384 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct pollfd input = { .fd = 0, .events = POLLIN };
	struct client *clients;
	long long until, round;
	long opened = 0, closed = 0, most = 0;
	int count;

	if (argc != 5 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	count = atoi(argv[3]);
	clients = calloc(count, sizeof(*clients));
	setrlimit(RLIMIT_NOFILE, &files);
	for (int n = 0; n < count; n++)
		clients[n].fd = -1;
	until = now_ns() + atoll(argv[4]) * SECOND;
	for (round = now_ns(); now_ns() < until; round += SECOND) {
		long open = 0;

		for (int n = 0; n < count; n++) {
			struct client *c = &clients[n];

			if (c->fd >= 0 && !drip(c)) {
				setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
				close(c->fd);
				c->fd = -1;
				closed++;
			}
			if (c->fd < 0) {
				*c = (struct client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0) };
				if (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS) {
					close(c->fd);
					c->fd = -1;
				} else {
					opened++;
				}
			}
			open += c->fd >= 0;
		}
		if (open > most)
			most = open;
		if (poll(&input, 1, (int)((round + SECOND - now_ns()) / MS > 0 ? (round + SECOND - now_ns()) / MS : 0)) == 1)
			break;
	}
	printf("%ld %ld %ld\n", most, opened, closed);
	return 0;
}
