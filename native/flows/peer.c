#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apply.h"
#include "counts.h"
#include "datagram.h"
#include "domain.h"
#include "error.h"
#include "record.h"
#include "send.h"

#define HELLO_BODY 16
#define QUEUE (8 * 1024 * 1024)
#define REQUEST_EVERY_US (5 * US_PER_S)
#define RECEIVE_AT_ONCE 256

/* Not 0. */
static uint64_t random_number(void)
{
	uint64_t number = 0;

	while (number == 0)
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = 0;
	return number;
}

struct peer *peer_find(struct flows *flows, const struct address *address)
{
	struct peer *peer = flows->peers;

	while (peer != NULL && !address_equal(&peer->address, address))
		peer = peer->next;
	return peer;
}

struct peer *peer_add(struct flows *flows, const struct address *address)
{
	struct peer *peer = memory_new(sizeof(*peer));

	peer->address = *address;
	peer->own_epoch = random_number();
	peer->challenge = random_number();
	peer->heard_us = now_us();
	peer->next = flows->peers;
	flows->peers = peer;
	return peer;
}

void peers_listen(struct flows *flows)
{
	struct sockaddr_storage name;
	socklen_t len = address_to_sockaddr(&flows->config.address, flows->config.port, &name);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &flows->socket_fd};
	int queue = QUEUE, fd;

	if (flows->socket_fd >= 0 || !flows->configured)
		return;
	fd = socket(flows->config.address.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, len) < 0 || epoll_ctl(flows->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		set_error(flows, flows->listen_error, "listening: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &queue, sizeof(queue));
	flows->socket_fd = fd;
	set_error(flows, flows->listen_error, "%s", "");
}

static void greet(struct flows *flows, struct peer *peer)
{
	uint8_t body[HELLO_BODY];
	uint64_t now = now_us();
	/* The whole table is large. Sending it all the time would make a lossy link worse. */
	bool ask = peer->wants_all && (peer->requested_us == 0 || now - peer->requested_us >= REQUEST_EVERY_US);

	if (ask) {
		peer->wants_all = false;
		peer->requested_us = now;
	}
	put64(body, peer->challenge);
	put64(body + 8, peer->echo);
	datagram_send(flows, peer, DATAGRAM_HELLO, ask ? DATAGRAM_REQUEST_ALL : 0, 0, body, sizeof(body));
}

void peers_send_hello(struct flows *flows)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next) {
		if (peer->understood_us != 0 && now_us() - peer->understood_us > DATAGRAM_UNDERSTOOD_US) {
			peer->understood_us = 0;
			peer->speaks_two = false;
		}
		greet(flows, peer);
	}
}

static void heard(struct peer *peer)
{
	peer->received++;
	peer->heard_ms = epoch_ms();
	peer->heard_us = now_us();
}

/* Whether the sequence is new. After a gap everything is requested again. */
static bool is_fresh(struct peer *peer, uint64_t seq)
{
	if (seq <= peer->heard_seq)
		return false;
	if (seq > peer->heard_seq + 1) {
		peer->lost += seq - peer->heard_seq - 1;
		peer->wants_all = true;
	}
	peer->heard_seq = seq;
	return true;
}

static bool receive_hello(struct flows *flows, struct peer *peer, const struct datagram *hello)
{
	uint64_t challenge = get64(hello->body), echo = get64(hello->body + 8);
	bool known = hello->epoch == peer->epoch;

	if (hello->epoch == 0 || (known && !is_fresh(peer, hello->seq)))
		return false;
	peer->echo = challenge;
	if (!known && echo == peer->challenge) {
		peer->epoch = hello->epoch;
		peer->heard_seq = hello->seq;
		peer->challenge = random_number();
		known = true;
		/* The peer restarted: what was sent until now does not count. */
		peer->sending = false;
		send_all(flows, peer);
	}
	if (known) {
		heard(peer);
		if (hello->flags == DATAGRAM_REQUEST_ALL)
			send_all(flows, peer);
	}
	/* One side does not know the other yet. Our hello carries the challenge to echo. */
	if (!known || hello->to != peer->own_epoch)
		greet(flows, peer);
	return true;
}

/* A domain may be unknown here while the peer's configuration is newer or older than ours. */
static bool receive_request(struct flows *flows, struct peer *peer, const struct flow_record *record)
{
	const struct domain *domain = domain_find(flows, record->domain);

	if (domain != NULL)
		send_domain(flows, peer, domain);
	return true;
}

static bool receive_record(struct flows *flows, struct peer *peer, enum record_kind kind, const struct flow_record *record)
{
	switch (kind) {
	case RECORD_PUT:
		return apply_put(flows, record);
	case RECORD_DELETE:
		return apply_delete(flows, record);
	case RECORD_REQUEST:
		return receive_request(flows, peer, record);
	default:
		return counts_receive(flows, peer, record);
	}
}

static bool receive_flows(struct flows *flows, struct peer *peer, const struct datagram *datagram)
{
	const uint8_t *at = datagram->body;
	enum record_kind kind;
	struct flow_record record;
	bool sound = true;

	if (datagram->epoch != peer->epoch || peer->epoch == 0 || datagram->to != peer->own_epoch ||
	    !is_fresh(peer, datagram->seq))
		return false;
	heard(peer);
	for (size_t len = datagram->len; len > 0;) {
		size_t size = record_read(at, len, &kind, &record);
		if (size == 0)
			return false;
		sound = receive_record(flows, peer, kind, &record) && sound;
		at += size;
		len -= size;
	}
	return sound;
}

static bool take(struct flows *flows, struct peer *peer, const uint8_t *data, size_t len)
{
	struct datagram datagram;

	if (!datagram_read(flows, peer, data, len, &datagram))
		return false;
	if (datagram.version == 1 && peer->speaks_two) {
		/* A peer that restarted does not know that we understand version 2. Our hello shows it. */
		if (datagram.kind == DATAGRAM_HELLO)
			greet(flows, peer);
		return datagram.kind == DATAGRAM_HELLO;
	}
	if (datagram.version == 2 || (datagram.kind == DATAGRAM_HELLO && datagram.count == 2))
		peer->understood_us = now_us();
	if (datagram.version == 2)
		peer->speaks_two = true;
	if (datagram.kind == DATAGRAM_HELLO && datagram.len == HELLO_BODY)
		return receive_hello(flows, peer, &datagram);
	return datagram.kind == DATAGRAM_FLOWS && receive_flows(flows, peer, &datagram);
}

static struct peer *sender(struct flows *flows, const struct sockaddr_storage *from)
{
	struct address address = {.family = from->ss_family};

	if (from->ss_family == AF_INET)
		memcpy(address.bytes, &((const struct sockaddr_in *)from)->sin_addr, 4);
	else
		memcpy(address.bytes, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	return peer_find(flows, &address);
}

void peers_receive(struct flows *flows)
{
	uint8_t datagram[2048];
	struct sockaddr_storage from;

	for (int i = 0; i < RECEIVE_AT_ONCE; i++) {
		socklen_t from_len = sizeof(from);
		ssize_t len =
			recvfrom(flows->socket_fd, datagram, sizeof(datagram), MSG_TRUNC, (struct sockaddr *)&from, &from_len);
		struct peer *peer;
		/* A closed port of one peer must not stop the others. */
		if (len < 0 && errno == ECONNREFUSED)
			continue;
		if (len < 0)
			return;
		peer = sender(flows, &from);
		if (peer == NULL)
			flows->strangers++;
		else if (!take(flows, peer, datagram, (size_t)len))
			peer->refused++;
	}
}
