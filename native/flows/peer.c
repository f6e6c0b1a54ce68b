#include "peer.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "domain.h"
#include "promise.h"
#include "take.h"

#define MAGIC "SFR1"
#define KIND_HELLO 1
#define KIND_FLOWS 2
/* Beside the kind of a hello: the second byte of the head. */
#define TELL_ALL 0x100
#define HEAD 32
#define HELLO_BODY 16
#define MAC_BYTES 16
/* Fits the smallest MTU that fabrics have, with the headers of IPv6. */
#define DATAGRAM 1400
#define ROOM (DATAGRAM - HEAD - MAC_BYTES)
#define QUEUE (8 * 1024 * 1024)
#define FLUSH_US 2000
#define TELL_EVERY_US 1000
#define DATAGRAMS_PER_TELL 2
#define ASK_EVERY_US (5 * US_PER_S)
#define RECEIVE_AT_ONCE 256

uint64_t random_number(void)
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
		say_error(flows, flows->listen_error, "listening: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &queue, sizeof(queue));
	flows->socket_fd = fd;
	say_error(flows, flows->listen_error, "%s", "");
}

static void put64(uint8_t *at, uint64_t number)
{
	number = htobe64(number);
	memcpy(at, &number, sizeof(number));
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return be64toh(number);
}

static void mac_of(const struct flows *flows, const uint8_t *data, size_t len, uint8_t out[EVP_MAX_MD_SIZE])
{
	unsigned int size;

	if (HMAC(EVP_sha256(), flows->config.key, KEY_BYTES, data, len, out, &size) == NULL)
		abort();
}

static void send_datagram(struct flows *flows, struct peer *peer, unsigned kind, uint16_t count, const void *body, size_t len)
{
	uint8_t datagram[DATAGRAM], mac[EVP_MAX_MD_SIZE];
	struct sockaddr_storage to;
	socklen_t to_len = address_to_sockaddr(&peer->address, peer->port, &to);

	if (flows->socket_fd < 0)
		return;
	memcpy(datagram, MAGIC, 4);
	datagram[4] = (uint8_t)kind;
	datagram[5] = (uint8_t)(kind >> 8);
	count = htons(count);
	memcpy(datagram + 6, &count, 2);
	put64(datagram + 8, peer->own_epoch);
	put64(datagram + 16, peer->epoch);
	put64(datagram + 24, ++peer->sent_seq);
	memcpy(datagram + HEAD, body, len);
	mac_of(flows, datagram, HEAD + len, mac);
	memcpy(datagram + HEAD + len, mac, MAC_BYTES);
	/* One that does not leave shows at the peer by the sequence. */
	if (sendto(flows->socket_fd, datagram, HEAD + len + MAC_BYTES, 0, (struct sockaddr *)&to, to_len) >= 0)
		peer->sent++;
}

static void greet(struct flows *flows, struct peer *peer)
{
	uint8_t body[HELLO_BODY];
	uint64_t now = now_us();
	/* The whole table is much; a link that loses all the time is not made better by it. */
	bool ask = peer->wants_all && (peer->asked_us == 0 || now - peer->asked_us >= ASK_EVERY_US);

	if (ask) {
		peer->wants_all = false;
		peer->asked_us = now;
	}
	put64(body, peer->challenge);
	put64(body + 8, peer->echo);
	send_datagram(flows, peer, KIND_HELLO | (ask ? TELL_ALL : 0), 0, body, sizeof(body));
}

void peers_greet(struct flows *flows)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
		greet(flows, peer);
}

static size_t count_records(const uint8_t *data, size_t len)
{
	enum record_kind kind;
	struct flow_record record;
	size_t count = 0, size;

	while (len > 0 && (size = record_read(data, len, &kind, &record)) > 0) {
		data += size;
		len -= size;
		count++;
	}
	return count;
}

void peers_flush(struct flows *flows)
{
	size_t count = count_records(flows->pending.data, flows->pending.len);

	if (count > 0)
		for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
			/* It is told everything once it is known. */
			if (peer->epoch != 0)
				send_datagram(flows, peer, KIND_FLOWS, (uint16_t)count, flows->pending.data, flows->pending.len);
	flows->pending.len = 0;
	flows->flush_us = 0;
}

void peers_tell(struct flows *flows, enum record_kind kind, const struct flow_record *record)
{
	if (flows->pending.len + RECORD_MOST > ROOM)
		peers_flush(flows);
	flows->pending.len += record_write(buf_reserve(&flows->pending, RECORD_MOST), kind, record);
	if (flows->flush_us == 0)
		flows->flush_us = now_us() + FLUSH_US;
}

static void begin_telling(struct flows *flows, struct peer *peer, const struct domain *first, bool one)
{
	peer->telling = true;
	peer->tell_again = false;
	peer->telling_one = one;
	peer->telling_domain = first;
	peer->telling_bucket = 0;
	if (flows->tell_us == 0)
		flows->tell_us = now_us();
}

static void tell_all(struct flows *flows, struct peer *peer)
{
	begin_telling(flows, peer, flows->domains, false);
}

void peers_ask(struct flows *flows, const struct domain *domain)
{
	const struct flow_record ask = {.family = AF_INET, .domain = domain->number};

	peers_tell(flows, RECORD_ASK, &ask);
}

void peers_tell_anew(struct flows *flows, const struct domain *gone)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
		if (peer->telling && peer->telling_domain == gone)
			tell_all(flows, peer);
}

/*
 * Buckets whose records fit into a datagram. When the table grows meanwhile, flows of a bucket go to it or to a later
 * one: some are told twice, none is left out.
 */
static void tell_some(struct flows *flows, struct peer *peer)
{
	uint8_t body[ROOM];
	size_t len = 0;
	uint16_t count = 0;

	while (peer->telling_domain != NULL) {
		const struct domain *domain = peer->telling_domain;
		if (peer->telling_bucket >= domain->bucket_count) {
			peer->telling_domain = peer->telling_one ? NULL : domain->next;
			peer->telling_bucket = 0;
			continue;
		}
		for (const struct flow *flow = domain->buckets[peer->telling_bucket]; flow != NULL; flow = flow->next) {
			/* The others are their own node's to tell of. */
			if (!flow->local)
				continue;
			if (len + RECORD_MOST > sizeof(body)) {
				send_datagram(flows, peer, KIND_FLOWS, count, body, len);
				len = count = 0;
			}
			len += record_write(body + len, RECORD_PUT, &flow->record);
			count++;
		}
		peer->telling_bucket++;
		if (len > sizeof(body) / 2)
			break;
	}
	if (len > 0)
		send_datagram(flows, peer, KIND_FLOWS, count, body, len);
	peer->telling = peer->telling_domain != NULL;
	if (!peer->telling && peer->tell_again)
		tell_all(flows, peer);
}

void peers_go_on(struct flows *flows)
{
	bool more = false;

	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next) {
		for (int i = 0; i < DATAGRAMS_PER_TELL && peer->telling; i++)
			tell_some(flows, peer);
		more = more || peer->telling;
	}
	flows->tell_us = more ? now_us() + TELL_EVERY_US : 0;
}

static void heard(struct peer *peer)
{
	peer->received++;
	peer->heard_ms = epoch_ms();
	peer->heard_us = now_us();
}

/* Whether it is the next that we have not seen; what is missing between is asked for again. */
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

static bool take_hello(struct flows *flows, struct peer *peer, const uint8_t *datagram)
{
	uint64_t epoch = get64(datagram + 8), to = get64(datagram + 16), seq = get64(datagram + 24);
	uint64_t challenge = get64(datagram + HEAD), echo = get64(datagram + HEAD + 8);
	bool known = epoch == peer->epoch;

	if (epoch == 0 || (known && !is_fresh(peer, seq)))
		return false;
	peer->echo = challenge;
	if (!known && echo == peer->challenge) {
		peer->epoch = epoch;
		peer->heard_seq = seq;
		peer->challenge = random_number();
		known = true;
		tell_all(flows, peer);
	}
	if (known) {
		heard(peer);
		if (datagram[5] == TELL_ALL >> 8 && peer->telling)
			peer->tell_again = true;
		else if (datagram[5] == TELL_ALL >> 8)
			tell_all(flows, peer);
	}
	/* It does not know us, or we cannot believe it yet: our answer lets it echo. */
	if (!known || to != peer->own_epoch)
		greet(flows, peer);
	return true;
}

/* Of a domain that is not shared here there is nothing to tell: the peer is ahead of our configuration, or behind. */
static bool take_ask(struct flows *flows, struct peer *peer, const struct flow_record *record)
{
	const struct domain *domain = domain_find(flows, record->domain);

	if (domain == NULL)
		return true;
	if (peer->telling)
		peer->tell_again = true;
	else
		begin_telling(flows, peer, domain, true);
	return true;
}

static bool take_record(struct flows *flows, struct peer *peer, enum record_kind kind, const struct flow_record *record)
{
	switch (kind) {
	case RECORD_PUT:
		return take_put(flows, record);
	case RECORD_DELETE:
		return take_delete(flows, record);
	case RECORD_ASK:
		return take_ask(flows, peer, record);
	default:
		return promise_take(flows, peer, record);
	}
}

static bool take_flows(struct flows *flows, struct peer *peer, const uint8_t *datagram, size_t len)
{
	const uint8_t *at = datagram + HEAD;
	enum record_kind kind;
	struct flow_record record;
	bool sound = true;

	if (get64(datagram + 8) != peer->epoch || peer->epoch == 0 || get64(datagram + 16) != peer->own_epoch ||
	    !is_fresh(peer, get64(datagram + 24)))
		return false;
	heard(peer);
	for (len -= HEAD; len > 0;) {
		size_t size = record_read(at, len, &kind, &record);
		if (size == 0)
			return false;
		sound = take_record(flows, peer, kind, &record) && sound;
		at += size;
		len -= size;
	}
	return sound;
}

static bool take(struct flows *flows, struct peer *peer, const uint8_t *datagram, size_t len)
{
	uint8_t mac[EVP_MAX_MD_SIZE];

	if (len < HEAD + MAC_BYTES || len > DATAGRAM || memcmp(datagram, MAGIC, 4) != 0)
		return false;
	len -= MAC_BYTES;
	mac_of(flows, datagram, len, mac);
	if (CRYPTO_memcmp(mac, datagram + len, MAC_BYTES) != 0)
		return false;
	if (datagram[4] == KIND_HELLO && len == HEAD + HELLO_BODY)
		return take_hello(flows, peer, datagram);
	return datagram[4] == KIND_FLOWS && take_flows(flows, peer, datagram, len);
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
		/* A peer whose port is closed is no reason to stop. */
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
