#include "receiver.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "../daemon/clock.h"
#include "frame.h"

#define CONNECT_US 5000000
#define PAUSE_LEAST_US 100000
#define PAUSE_MOST_US 5000000
/* A connection ends if its data is not acknowledged for this long (RFC 5482). */
#define UNACKNOWLEDGED_MS 10000

static void close_receiver(struct receiver *receiver)
{
	if (receiver->fd >= 0)
		close(receiver->fd);
	receiver->fd = -1;
	receiver->connected = false;
	/* The next connection begins with a whole frame. */
	receiver->begun = 0;
	receiver->pause_us = receiver->pause_us == 0 ? PAUSE_LEAST_US : receiver->pause_us * 2;
	if (receiver->pause_us > PAUSE_MOST_US)
		receiver->pause_us = PAUSE_MOST_US;
	receiver->again_us = now_us() + receiver->pause_us;
}

/* Opens the socket. With TCP it does not wait for the connection. */
static void open_receiver(struct receiver *receiver)
{
	int type = (receiver->stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
	unsigned unacknowledged = UNACKNOWLEDGED_MS;
	struct sockaddr_storage to;
	socklen_t length = address_to_sockaddr(&receiver->address, receiver->port, &to);

	receiver->fd = socket(receiver->address.family, type, 0);
	if (receiver->fd >= 0 && receiver->stream)
		setsockopt(receiver->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
	receiver->deadline_us = now_us() + CONNECT_US;
	if (receiver->fd < 0 || (connect(receiver->fd, (struct sockaddr *)&to, length) < 0 && errno != EINPROGRESS))
		close_receiver(receiver);
	else
		receiver->connected = !receiver->stream;
}

/* Whether there is a connection now. */
static bool is_connected(struct receiver *receiver)
{
	struct pollfd polled;
	int err = 0;
	socklen_t length = sizeof err;

	if (receiver->fd < 0 && now_us() >= receiver->again_us)
		open_receiver(receiver);
	if (receiver->fd < 0 || receiver->connected)
		return receiver->connected;
	polled = (struct pollfd){.fd = receiver->fd, .events = POLLOUT};
	if (poll(&polled, 1, 0) > 0) {
		getsockopt(receiver->fd, SOL_SOCKET, SO_ERROR, &err, &length);
		receiver->connected = err == 0;
	}
	if (!receiver->connected && (err != 0 || now_us() >= receiver->deadline_us))
		close_receiver(receiver);
	return receiver->connected;
}

/* Sends as much of the frame as the connection accepts now. False if it accepts no more. */
static bool send_stream(struct receiver *receiver, const char *data, const struct frame *frame)
{
	size_t rest = frame->whole - receiver->begun;
	ssize_t took = send(receiver->fd, data + receiver->begun, rest, MSG_NOSIGNAL);

	if (took < 0 && errno != EAGAIN && errno != EINTR)
		close_receiver(receiver);
	if (took < 0)
		return false;
	receiver->pause_us = 0;
	if ((size_t)took < rest) {
		receiver->begun += (size_t)took;
		return false;
	}
	receiver->begun = 0;
	receiver->sent++;
	return true;
}

/* An ICMP error for an earlier datagram, which counts as sent, is reported once; then this one is sent. */
static void send_datagram(struct receiver *receiver, const struct frame *frame)
{
	ssize_t took = send(receiver->fd, frame->message, frame->length, MSG_NOSIGNAL);

	if (took < 0 && (errno == ECONNREFUSED || errno == EHOSTUNREACH)) {
		receiver->lost++;
		took = send(receiver->fd, frame->message, frame->length, MSG_NOSIGNAL);
	}
	if (took >= 0)
		receiver->sent++;
	else
		receiver->lost++;
}

size_t receiver_send(struct receiver *receiver, char *data, size_t have)
{
	struct frame frame;
	size_t done = 0;

	if (receiver->stream)
		receiver_look(receiver);
	while (frame_read(&frame, data + done, have - done) > 0) {
		bool connected = is_connected(receiver);
		if (receiver->stream && (!connected || !send_stream(receiver, data + done, &frame)))
			break;
		/* Datagrams need no room in a connection: they are sent at once. */
		if (!receiver->stream && connected)
			send_datagram(receiver, &frame);
		else if (!receiver->stream)
			receiver->lost++;
		done += frame.whole;
	}
	memmove(data, data + done, have - done);
	return done;
}

void receiver_look(struct receiver *receiver)
{
	char ignored[512];
	ssize_t got = 1;

	if (!receiver->stream || !receiver->connected)
		return;
	/* Receivers send nothing that matters: it is read and dropped. */
	while (got > 0)
		got = recv(receiver->fd, ignored, sizeof ignored, 0);
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_receiver(receiver);
}

int receiver_poll(const struct receiver *receiver, bool has_message, struct pollfd *out)
{
	uint64_t now = now_us(), until;

	if (receiver->stream && receiver->fd >= 0)
		*out = (struct pollfd){.fd = receiver->fd, .events = (short)(POLLIN | (has_message ? POLLOUT : 0))};
	if (!has_message || receiver->connected)
		return -1;
	until = receiver->fd >= 0 ? receiver->deadline_us : receiver->again_us;
	return until <= now ? 0 : (int)((until - now) / 1000 + 1);
}
