/* Frames of ARP and of neighbour discovery. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "address.h"

/* The payload after the Ethernet header, and its destination, as a packet socket takes them. */
struct frame {
	uint16_t protocol; /* ETH_P_ARP, ETH_P_IPV6 */
	uint8_t to[6];
	uint8_t bytes[80];
	size_t len;
};

/* RFC 5227: an ARP announcement, or an unsolicited neighbour advertisement that overrides (RFC 4861 7.2.6). */
void frame_announce(struct frame *frame, const struct address *address, const uint8_t *mac);
/* RFC 5227: an ARP probe, or a neighbour solicitation as for duplicate detection (RFC 4862 5.4.2). */
void frame_probe(struct frame *frame, const struct address *address, const uint8_t *mac);
