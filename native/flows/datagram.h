/*
 * What nodes tell each other, in UDP datagrams:
 *
 *   "SFR2", kind 1, flags 1 (1: tell me everything), count 2, epoch of the sender 8, epoch of the receiver as far as
 *   the sender knows it 8, sequence 8, then of a hello: challenge 8, echo 8; of flows: `count` records; MAC 16
 *
 * The MAC is HMAC-SHA256 over all before it, cut to 16 bytes. Its key is made of the group's key and the fabric addresses of
 * sender and receiver in this order, so a datagram is good in one direction between two nodes: not at its sender, and not
 * at a third node.
 *
 * Version 1 ("SFR1") has the group's key itself. It is what a node says until the peer showed that it understands version
 * 2, by speaking it or by the number 2 as `count` of a hello, which version 1 ignores: nodes are upgraded, and downgraded, one
 * after the other. From a peer that speaks version 2 it is not believed; nor is one that shows an epoch of this node.
 */
#pragma once
#include "flows.h"

enum datagram_kind { DATAGRAM_HELLO = 1, DATAGRAM_FLOWS = 2 };

#define DATAGRAM_REQUEST_ALL 1

/* A peer that has not shown for so long that it understands version 2 is one of version 1 again: it was downgraded. */
#define DATAGRAM_UNDERSTOOD_US (5 * US_PER_S)

/* Fits the smallest MTU that fabrics have, with the headers of IPv6. */
#define DATAGRAM_MOST 1400
/* What is left of it for the body. */
#define DATAGRAM_ROOM (DATAGRAM_MOST - 32 - 16)

struct datagram {
	uint8_t version, kind, flags;
	uint16_t count;
	uint64_t epoch, to, seq;
	const uint8_t *body;
	size_t len; /* of the body */
};

/* At most DATAGRAM_ROOM bytes. One that does not leave shows at the peer by the sequence. */
void datagram_send(struct flows *flows, struct peer *peer, enum datagram_kind kind, uint8_t flags, uint16_t count,
		   const void *body, size_t len);
/* Whether these bytes are one that somebody who has the key made, as this peer, for us. What is read points into them. */
bool datagram_read(const struct flows *flows, const struct peer *peer, const uint8_t *data, size_t len, struct datagram *out);
/* Makes the keys between us and the peer: of the configuration that holds now. */
void datagram_keys(const struct flows *flows, struct peer *peer);

void put64(uint8_t *at, uint64_t number);
uint64_t get64(const uint8_t *at);
