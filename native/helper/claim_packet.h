/* What an ARP or neighbour discovery packet says of whose an address is. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../net/address.h"

struct claim {
	struct address address;
	uint8_t mac[6]; /* that neighbours would learn */
};

/*
 * Reads what `claim_filter_attach` let through, from the network header on; `sender` is the frame's. False for what nobody
 * takes for a claim.
 */
bool claim_read(struct claim *out, int family, const uint8_t *packet, size_t len, const uint8_t *sender);
