/* Parses ARP and neighbour discovery packets that claim an address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../net/address.h"

struct claim {
	struct address address;
	uint8_t mac[6]; /* that neighbours would learn */
};

/*
 * Reads a packet that passed the filter, from the network header on; `sender` is the source of the frame. False when no
 * host would take it for a claim.
 */
bool claim_read(struct claim *out, int family, const uint8_t *packet, size_t len, const uint8_t *sender);
