/*
 * Sends requests over kept-alive connections, up to a total rate, until stdin ends or the time is over; then prints how
 * many were answered. A connection that ends is opened anew.
 *
 * request-burst ADDRESS PORT CONNECTIONS PER_SECOND SECONDS
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

static const char request[] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
static struct sockaddr_in to = { .sin_family = AF_INET };
static int loop;

struct connection {
	int fd;
	bool asked;
};

static void begin(struct connection *c)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLHUP, .data.ptr = c };
	int one = 1;

	*c = (struct connection){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0) };
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (c->fd >= 0 && (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS))
		epoll_ctl(loop, EPOLL_CTL_ADD, c->fd, &event);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	struct connection *connections;
	long long started, until, asked = 0, answered = 0, per_second;
	int count;

	if (argc != 6 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	count = atoi(argv[3]);
	per_second = atoll(argv[4]);
	connections = calloc(count, sizeof(*connections));
	loop = epoll_create1(0);
	for (int n = 0; n < count; n++)
		begin(&connections[n]);
	started = now_ns();
	until = started + atoll(argv[5]) * SECOND;
	for (;;) {
		struct epoll_event events[64];
		long long now = now_ns();
		int ready;

		if (now >= until || (poll(&input, 1, 0) == 1 && input.revents))
			break;
		for (int n = 0; n < count && asked < (now - started) * per_second / SECOND; n++)
			if (!connections[n].asked &&
			    send(connections[n].fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1) {
				connections[n].asked = true;
				asked++;
			}
		ready = epoll_wait(loop, events, 64, 1);
		for (int n = 0; n < ready; n++) {
			struct connection *c = events[n].data.ptr;
			char answer[4096];
			ssize_t size = recv(c->fd, answer, sizeof(answer), 0);

			if (size > 0) {
				answered += c->asked;
				c->asked = false;
			} else if (size == 0 || errno != EAGAIN) {
				close(c->fd);
				begin(c);
			}
		}
	}
	printf("%lld\n", answered);
	return 0;
}
