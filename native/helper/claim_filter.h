/* A filter in the kernel that lets through what claims one of many addresses, and little else. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../net/address.h"

/* More would make each packet that is looked at dearer. */
#define CLAIM_RANGES 32

/*
 * The last four bytes of the addresses of one family, as ranges in ascending order. With many addresses far apart the
 * ranges hold others too: who reads what comes through compares whole addresses.
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
