/*
 * A member that measures nothing and is never the bottleneck: UDP echo on 9001 (and on COUNT ports from FIRST, which
 * answer with their number), TCP echo on 9000, HTTP on 8080 (200 to every request, kept alive). One thread, with
 * priority over ordinary processes.
 *
 * echo-member [FIRST COUNT]. It prints `ready`. On a line `push` it sends `P.......` on every echo connection whose
 * first byte was `I` (idle), and prints how many there were. It ends when stdin does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

#define MOST_FDS 65536
enum kind { NONE, UDP_ECHO, UDP_PORT, LISTEN_ECHO, LISTEN_HTTP, ECHO, HTTP, COMMANDS };

static unsigned char kinds[MOST_FDS], first_byte[MOST_FDS];
static unsigned short ports[MOST_FDS];
static int loop;

static void watch(int fd, enum kind kind)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || fd >= MOST_FDS || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) < 0) {
		perror("watch");
		exit(1);
	}
	kinds[fd] = kind;
	first_byte[fd] = 0;
}

static void open_port(int type, int port, enum kind kind)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int one = 1, fd = socket(AF_INET6, type | SOCK_NONBLOCK, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (type == SOCK_DGRAM)
		/* The answer leaves from the address that was probed: with direct server return that is the VIP. */
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0 || (type == SOCK_STREAM && listen(fd, 4096) < 0)) {
		perror("bind");
		exit(1);
	}
	watch(fd, kind);
	ports[fd] = port;
}

static void answer_datagrams(int fd)
{
	for (;;) {
		char data[2048], control[128];
		struct sockaddr_in6 from;
		struct iovec part = { data, sizeof(data) };
		struct msghdr message = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part,
					  .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
		ssize_t size = recvmsg(fd, &message, 0);

		if (size < 0)
			return;
		part.iov_len = kinds[fd] == UDP_ECHO ? size : snprintf(data, sizeof(data), "%d", ports[fd]);
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
			if (c->cmsg_type == IPV6_PKTINFO)
				((struct in6_pktinfo *)CMSG_DATA(c))->ipi6_ifindex = 0;
		sendmsg(fd, &message, 0);
	}
}

static void accept_all(int listener, enum kind kind)
{
	int one = 1, fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		watch(fd, kind);
	}
}

static void answer_connection(int fd)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\nok\n";
	char data[4096];
	ssize_t size = recv(fd, data, sizeof(data) - 1, 0);

	if (size <= 0) {
		if (size < 0 && errno == EAGAIN)
			return;
		kinds[fd] = NONE;
		close(fd);
		return;
	}
	if (kinds[fd] == ECHO) {
		if (!first_byte[fd])
			first_byte[fd] = data[0];
		send(fd, data, size, MSG_NOSIGNAL);
		return;
	}
	data[size] = 0;
	for (char *end = data; (end = strstr(end, "\r\n\r\n")); end += 4)
		send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
}

static void obey(void)
{
	char line[256];
	ssize_t size = read(0, line, sizeof(line));
	int pushed = 0;

	if (size <= 0)
		exit(0);
	for (int fd = 0; fd < MOST_FDS; fd++)
		if (kinds[fd] == ECHO && first_byte[fd] == 'I' && send(fd, "P.......", 8, MSG_NOSIGNAL) == 8)
			pushed++;
	printf("%d\n", pushed);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct rlimit limit = { MOST_FDS, MOST_FDS };
	struct epoll_event events[256];

	setrlimit(RLIMIT_NOFILE, &limit);
	loop = epoll_create1(0);
	watch(0, COMMANDS);
	open_port(SOCK_DGRAM, 9001, UDP_ECHO);
	open_port(SOCK_STREAM, 9000, LISTEN_ECHO);
	open_port(SOCK_STREAM, 8080, LISTEN_HTTP);
	for (int n = 0; argc == 3 && n < atoi(argv[2]); n++)
		open_port(SOCK_DGRAM, atoi(argv[1]) + n, UDP_PORT);
	become_realtime(40);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		int count = epoll_wait(loop, events, 256, -1);

		for (int n = 0; n < count; n++) {
			int fd = events[n].data.fd;

			switch (kinds[fd]) {
			case UDP_ECHO:
			case UDP_PORT: answer_datagrams(fd); break;
			case LISTEN_ECHO: accept_all(fd, ECHO); break;
			case LISTEN_HTTP: accept_all(fd, HTTP); break;
			case COMMANDS: obey(); break;
			case NONE: break;
			default: answer_connection(fd);
			}
		}
	}
}
