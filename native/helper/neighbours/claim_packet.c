#include "claim_packet.h"

#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <string.h>

struct discovery {
	struct ip6_hdr ip;
	struct nd_neighbor_advert advert; /* a solicitation has the same layout */
};

/* The link-layer address of the option; NULL without one. */
static const uint8_t *option(const uint8_t *packet, size_t len, uint8_t wanted)
{
	for (size_t at = sizeof(struct discovery); at + 8 <= len && packet[at + 1] != 0; at += packet[at + 1] * 8u)
		if (packet[at] == wanted)
			return packet + at + 2;
	return NULL;
}

static bool read_arp(struct claim *out, const uint8_t *packet, size_t len)
{
	struct ether_arp arp;

	if (len < sizeof(arp))
		return false;
	memcpy(&arp, packet, sizeof(arp));
	memcpy(out->address.bytes, arp.arp_spa, 4);
	memcpy(out->mac, arp.arp_sha, 6);
	return true;
}

static bool read_discovery(struct claim *out, const uint8_t *packet, size_t len, const uint8_t *sender)
{
	struct discovery message;
	const uint8_t *mac;
	bool advert;

	if (len < sizeof(message))
		return false;
	memcpy(&message, packet, sizeof(message));
	/* RFC 4861 7.1: hosts ignore packets that passed a router. */
	if (message.ip.ip6_hlim != 255)
		return false;
	advert = message.advert.nd_na_type == ND_NEIGHBOR_ADVERT;
	mac = option(packet, len, advert ? ND_OPT_TARGET_LINKADDR : ND_OPT_SOURCE_LINKADDR);
	memcpy(out->address.bytes, advert ? &message.advert.nd_na_target : &message.ip.ip6_src, 16);
	memcpy(out->mac, mac == NULL ? sender : mac, 6);
	return true;
}

bool claim_read(struct claim *out, int family, const uint8_t *packet, size_t len, const uint8_t *sender)
{
	*out = (struct claim){.address.family = family};
	return family == AF_INET ? read_arp(out, packet, len) : read_discovery(out, packet, len, sender);
}
