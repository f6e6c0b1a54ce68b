#include "send.h"

#include <sys/socket.h>

#include "datagram.h"

#define FLUSH_US 2000
#define SEND_EVERY_US 1000
#define DATAGRAMS_PER_SEND 2

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

void send_flush(struct flows *flows)
{
	size_t count = count_records(flows->pending.data, flows->pending.len);

	if (count > 0)
		for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
			/* A peer without a handshake is sent everything after it. */
			if (peer->epoch != 0)
				datagram_send(flows, peer, DATAGRAM_FLOWS, 0, (uint16_t)count, flows->pending.data, flows->pending.len);
	flows->pending.len = 0;
	flows->flush_us = 0;
}

void send_change(struct flows *flows, enum record_kind kind, const struct flow_record *record)
{
	if (flows->pending.len + RECORD_MOST > DATAGRAM_ROOM)
		send_flush(flows);
	flows->pending.len += record_write(buf_reserve(&flows->pending, RECORD_MOST), kind, record);
	if (flows->flush_us == 0)
		flows->flush_us = now_us() + FLUSH_US;
}

static void begin(struct flows *flows, struct peer *peer, const struct domain *first, bool one)
{
	peer->sending = true;
	peer->send_again = false;
	peer->sending_one = one;
	peer->sending_domain = first;
	peer->sending_bucket = 0;
	if (flows->send_us == 0)
		flows->send_us = now_us();
}

void send_all(struct flows *flows, struct peer *peer)
{
	if (peer->sending)
		peer->send_again = true;
	else
		begin(flows, peer, flows->domains, false);
}

void send_domain(struct flows *flows, struct peer *peer, const struct domain *domain)
{
	if (peer->sending)
		peer->send_again = true;
	else
		begin(flows, peer, domain, true);
}

void send_request(struct flows *flows, const struct domain *domain)
{
	const struct flow_record ask = {.family = AF_INET, .domain = domain->number};

	send_change(flows, RECORD_REQUEST, &ask);
}

void send_restart(struct flows *flows, const struct domain *gone)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
		if (peer->sending && peer->sending_domain == gone)
			begin(flows, peer, flows->domains, false);
}

/*
 * Sends the next buckets, about one datagram. If the table grows meanwhile, the flows of a bucket stay in it or move to a
 * later one: some are sent twice, none is skipped.
 */
static void send_some(struct flows *flows, struct peer *peer)
{
	uint8_t body[DATAGRAM_ROOM];
	size_t len = 0;
	uint16_t count = 0;

	while (peer->sending_domain != NULL) {
		const struct domain *domain = peer->sending_domain;
		if (peer->sending_bucket >= domain->bucket_count) {
			peer->sending_domain = peer->sending_one ? NULL : domain->next;
			peer->sending_bucket = 0;
			continue;
		}
		for (const struct flow *flow = domain->buckets[peer->sending_bucket]; flow != NULL; flow = flow->next) {
			/* Each node sends only the flows that it carries. */
			if (!flow->local)
				continue;
			if (len + RECORD_MOST > sizeof(body)) {
				datagram_send(flows, peer, DATAGRAM_FLOWS, 0, count, body, len);
				len = count = 0;
			}
			len += record_write(body + len, RECORD_PUT, &flow->record);
			count++;
		}
		peer->sending_bucket++;
		if (len > sizeof(body) / 2)
			break;
	}
	if (len > 0)
		datagram_send(flows, peer, DATAGRAM_FLOWS, 0, count, body, len);
	peer->sending = peer->sending_domain != NULL;
	if (!peer->sending && peer->send_again)
		send_all(flows, peer);
}

void send_continue(struct flows *flows)
{
	bool more = false;

	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next) {
		for (int i = 0; i < DATAGRAMS_PER_SEND && peer->sending; i++)
			send_some(flows, peer);
		more = more || peer->sending;
	}
	flows->send_us = more ? now_us() + SEND_EVERY_US : 0;
}
