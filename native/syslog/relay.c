#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_MS 5000
/* A connection ends if its data is not acknowledged for this long (RFC 5482). */
#define UNACKNOWLEDGED_MS 10000
#define ROOM 65536
/* Time for the other side to finish, so that what was sent is not reset. */
#define FAREWELL_MS 1000

/* One direction: bytes on their way from one descriptor to another. */
struct way {
	int from, to;
	char data[ROOM];
	size_t have;
	bool ended; /* the source has ended */
};

static int broken(int err)
{
	fprintf(stderr, "%s\n", strerror(err));
	return 1;
}

/* Returns the socket, or -1 with errno. */
static int connected(const struct address *address, uint16_t port)
{
	int fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;
	unsigned unacknowledged = UNACKNOWLEDGED_MS;
	struct sockaddr_storage to;
	socklen_t length = address_to_sockaddr(address, port, &to), err_length = sizeof err;
	struct pollfd polled = {.fd = fd, .events = POLLOUT};

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
	if (connect(fd, (struct sockaddr *)&to, length) < 0 && errno != EINPROGRESS)
		err = errno;
	else if (poll(&polled, 1, CONNECT_MS) <= 0)
		err = ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &err_length);
	if (err == 0)
		return fd;
	close(fd);
	errno = err;
	return -1;
}

static bool is_trouble(ssize_t got)
{
	return got < 0 && errno != EAGAIN && errno != EINTR;
}

/* Reads and writes as much as possible. False if either descriptor fails. */
static bool pass(struct way *way)
{
	ssize_t got, took;

	if (!way->ended && way->have < ROOM) {
		got = read(way->from, way->data + way->have, ROOM - way->have);
		if (is_trouble(got))
			return false;
		way->ended = got == 0;
		way->have += got > 0 ? (size_t)got : 0;
	}
	if (way->have == 0)
		return true;
	took = write(way->to, way->data, way->have);
	if (is_trouble(took))
		return false;
	if (took > 0) {
		way->have -= (size_t)took;
		memmove(way->data, way->data + took, way->have);
	}
	return true;
}

static bool is_done(const struct way *way)
{
	return way->ended && way->have == 0;
}

static void leave(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	char ignored[512];

	shutdown(fd, SHUT_WR);
	while (poll(&polled, 1, FAREWELL_MS) > 0 && read(fd, ignored, sizeof ignored) > 0)
		;
	close(fd);
}

int relay_run(const struct address *address, uint16_t port)
{
	static struct way out, back;
	int fd = connected(address, port);

	if (fd < 0)
		return broken(errno);
	signal(SIGPIPE, SIG_IGN);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	out = (struct way){.from = STDIN_FILENO, .to = fd};
	back = (struct way){.from = fd, .to = STDOUT_FILENO};
	/* If one side does not read, the other must wait: a descriptor is read only while there is room for its bytes. */
	while (!is_done(&out) && !is_done(&back)) {
		struct pollfd polled[3] = {
			{.fd = !out.ended && out.have < ROOM ? STDIN_FILENO : -1, .events = POLLIN},
			{.fd = fd, .events = (short)((back.have < ROOM ? POLLIN : 0) | (out.have > 0 ? POLLOUT : 0))},
			{.fd = back.have > 0 ? STDOUT_FILENO : -1, .events = POLLOUT},
		};
		if (polled[1].events == 0)
			polled[1].fd = -1;
		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			return broken(errno);
		if (!pass(&out) || !pass(&back))
			return broken(errno);
	}
	leave(fd);
	return 0;
}
