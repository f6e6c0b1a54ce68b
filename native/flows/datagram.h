/*
 * What nodes tell each other, in UDP datagrams:
 *
 *   "SFR1", kind 1, flags 1 (1: tell me everything), count 2, epoch of the sender 8, epoch of the receiver as far as
 *   the sender knows it 8, sequence 8, then of a hello: challenge 8, echo 8; of flows: `count` records; MAC 16
 *
 * The MAC is HMAC-SHA256 over all before it, cut to 16 bytes.
 */
#pragma once
#include "flows.h"

enum datagram_kind { DATAGRAM_HELLO = 1, DATAGRAM_FLOWS = 2 };

#define DATAGRAM_TELL_ALL 1

/* Fits the smallest MTU that fabrics have, with the headers of IPv6. */
#define DATAGRAM_MOST 1400
/* What is left of it for the body. */
#define DATAGRAM_ROOM (DATAGRAM_MOST - 32 - 16)

struct datagram {
	uint8_t kind, flags;
	uint64_t epoch, to, seq;
	const uint8_t *body;
	size_t len; /* of the body */
};

/* At most DATAGRAM_ROOM bytes. One that does not leave shows at the peer by the sequence. */
void datagram_send(struct flows *flows, struct peer *peer, enum datagram_kind kind, uint8_t flags, uint16_t count,
		   const void *body, size_t len);
/* Whether these bytes are one of somebody who has the key. What is read points into them. */
bool datagram_read(const struct flows *flows, const uint8_t *data, size_t len, struct datagram *out);

void put64(uint8_t *at, uint64_t number);
uint64_t get64(const uint8_t *at);
