/*
 * The UDP datagrams between nodes:
 *
 *   "SFR2", kind 1, flags 1 (1: send me everything), count 2, epoch of the sender 8, epoch of the receiver as far as
 *   the sender knows it 8, sequence 8, then of a hello: challenge 8, echo 8; of flows: `count` records; MAC 16
 *
 * The MAC is HMAC-SHA256 over all before it, cut to 16 bytes. Its key is made of the group's key and the fabric addresses of
 * sender and receiver in this order, so a datagram is good in one direction between two nodes: not at its sender, and not
 * at a third node.
 *
 * Version 1 ("SFR1") uses the group's key directly. A node sends it until the peer shows that it understands version 2,
 * either by sending version 2 or by a `count` of 2 in a hello, which version 1 ignores. So nodes can be upgraded and
 * downgraded one at a time. Version 1 is refused from a peer that sends version 2, and so is a datagram with our own epoch.
 */
#pragma once
#include "flows.h"

enum datagram_kind { DATAGRAM_HELLO = 1, DATAGRAM_FLOWS = 2 };

#define DATAGRAM_REQUEST_ALL 1

/* A peer that has not shown for this long that it understands version 2 was downgraded. */
#define DATAGRAM_UNDERSTOOD_US (5 * US_PER_S)

/* With the headers of IPv6 this fits the smallest MTU that fabrics have. */
#define DATAGRAM_MOST 1400
/* Space for the body. */
#define DATAGRAM_ROOM (DATAGRAM_MOST - 32 - 16)

struct datagram {
	uint8_t version, kind, flags;
	uint16_t count;
	uint64_t epoch, to, seq;
	const uint8_t *body;
	size_t len; /* of the body */
};

/* Sends at most DATAGRAM_ROOM bytes. The peer detects a lost datagram by the sequence. */
void datagram_send(struct flows *flows, struct peer *peer, enum datagram_kind kind, uint8_t flags, uint16_t count,
		   const void *body, size_t len);
/* Verifies that this peer made the datagram for this node, and parses it. `out` points into `data`. */
bool datagram_read(const struct flows *flows, const struct peer *peer, const uint8_t *data, size_t len, struct datagram *out);
/* Derives the keys of both directions from the current configuration. */
void datagram_keys(const struct flows *flows, struct peer *peer);

void put64(uint8_t *at, uint64_t number);
uint64_t get64(const uint8_t *at);
