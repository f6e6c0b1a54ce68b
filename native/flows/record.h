/*
 * The encoding of a flow in a datagram, in network order:
 *
 *   kind 1, protocol 1, TCP state 1, flags 1 (1: IPv6), domain 4, mark 4,
 *   original source 4 or 16, port 2, destination 4 or 16, port 2, the same of the reply
 *
 * Two kinds concern a whole domain and end after the mark: a count, with the number of flows that the sender carries in
 * place of the mark, and a request for all flows of the domain.
 */
#pragma once
#include "flows.h"

enum record_kind { RECORD_PUT = 1, RECORD_DELETE = 2, RECORD_COUNT = 3, RECORD_REQUEST = 4 };

#define RECORD_MOST 84

/* Writes at most RECORD_MOST bytes. Returns how many. */
size_t record_write(uint8_t *at, enum record_kind kind, const struct flow_record *record);
/* Returns the bytes read; 0 for an invalid record. */
size_t record_read(const uint8_t *at, size_t len, enum record_kind *kind, struct flow_record *out);
