/* A socket filter that passes packets that may claim one of many addresses. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../net/address.h"

/* More ranges would make the filter slower for each packet. */
#define CLAIM_RANGES 32

/*
 * The last four bytes of the addresses of one family, as ranges in ascending order. With many addresses far apart the
 * ranges include other addresses too, so the reader compares whole addresses.
 */
struct claim_ranges {
	size_t count;
	struct {
		uint32_t first, last;
	} of[CLAIM_RANGES];
};

uint32_t claim_key(const struct address *address);
/* `keys` ascending. */
void claim_ranges_make(struct claim_ranges *ranges, const uint32_t *keys, size_t count);
bool claim_ranges_hold(const struct claim_ranges *ranges, uint32_t key);
/*
 * Attaches to a SOCK_DGRAM packet socket: ARP packets by their sender, neighbour advertisements by their target,
 * neighbour solicitations by their source. Without ranges nothing comes through.
 */
bool claim_filter_attach(int fd, int family, const struct claim_ranges *ranges);
