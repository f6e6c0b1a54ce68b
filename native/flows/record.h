/*
 * A flow in a datagram, numbers in network order:
 *
 *   kind 1, protocol 1, TCP state 1, flags 1 (1: IPv6), domain 4, mark 4,
 *   original source 4 or 16, port 2, destination 4 or 16, port 2, the same of the reply
 *
 * Two are about a domain alone and end behind the mark: a count, which has how many flows its node carries in the place
 * of the mark, and an ask, to be told all flows of the domain.
 */
#pragma once
#include "flows.h"

enum record_kind { RECORD_PUT = 1, RECORD_DELETE = 2, RECORD_COUNT = 3, RECORD_REQUEST = 4 };

#define RECORD_MOST 84

/* Writes RECORD_MOST bytes at most; how many. */
size_t record_write(uint8_t *at, enum record_kind kind, const struct flow_record *record);
/* Bytes read; 0 when these are no record. */
size_t record_read(const uint8_t *at, size_t len, enum record_kind *kind, struct flow_record *out);
