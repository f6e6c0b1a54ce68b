#include "tell.h"

#include <sys/socket.h>

#include "datagram.h"

#define FLUSH_US 2000
#define TELL_EVERY_US 1000
#define DATAGRAMS_PER_TELL 2

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

void tell_flush(struct flows *flows)
{
	size_t count = count_records(flows->pending.data, flows->pending.len);

	if (count > 0)
		for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
			/* It is told everything once it is known. */
			if (peer->epoch != 0)
				datagram_send(flows, peer, DATAGRAM_FLOWS, 0, (uint16_t)count, flows->pending.data, flows->pending.len);
	flows->pending.len = 0;
	flows->flush_us = 0;
}

void tell_change(struct flows *flows, enum record_kind kind, const struct flow_record *record)
{
	if (flows->pending.len + RECORD_MOST > DATAGRAM_ROOM)
		tell_flush(flows);
	flows->pending.len += record_write(buf_reserve(&flows->pending, RECORD_MOST), kind, record);
	if (flows->flush_us == 0)
		flows->flush_us = now_us() + FLUSH_US;
}

static void begin(struct flows *flows, struct peer *peer, const struct domain *first, bool one)
{
	peer->telling = true;
	peer->tell_again = false;
	peer->telling_one = one;
	peer->telling_domain = first;
	peer->telling_bucket = 0;
	if (flows->tell_us == 0)
		flows->tell_us = now_us();
}

void tell_all(struct flows *flows, struct peer *peer)
{
	if (peer->telling)
		peer->tell_again = true;
	else
		begin(flows, peer, flows->domains, false);
}

void tell_domain(struct flows *flows, struct peer *peer, const struct domain *domain)
{
	if (peer->telling)
		peer->tell_again = true;
	else
		begin(flows, peer, domain, true);
}

void tell_ask(struct flows *flows, const struct domain *domain)
{
	const struct flow_record ask = {.family = AF_INET, .domain = domain->number};

	tell_change(flows, RECORD_ASK, &ask);
}

void tell_anew(struct flows *flows, const struct domain *gone)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
		if (peer->telling && peer->telling_domain == gone)
			begin(flows, peer, flows->domains, false);
}

/*
 * Buckets whose records fit into a datagram. When the table grows meanwhile, flows of a bucket go to it or to a later
 * one: some are told twice, none is left out.
 */
static void tell_some(struct flows *flows, struct peer *peer)
{
	uint8_t body[DATAGRAM_ROOM];
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
				datagram_send(flows, peer, DATAGRAM_FLOWS, 0, count, body, len);
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
		datagram_send(flows, peer, DATAGRAM_FLOWS, 0, count, body, len);
	peer->telling = peer->telling_domain != NULL;
	if (!peer->telling && peer->tell_again)
		tell_all(flows, peer);
}

void tell_go_on(struct flows *flows)
{
	bool more = false;

	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next) {
		for (int i = 0; i < DATAGRAMS_PER_TELL && peer->telling; i++)
			tell_some(flows, peer);
		more = more || peer->telling;
	}
	flows->tell_us = more ? now_us() + TELL_EVERY_US : 0;
}
