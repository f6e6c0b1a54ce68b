#include "ethernet.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <string.h>

/* An ARP request whose sender asks for `target`. */
static void put_arp(struct frame *frame, const uint8_t *mac, const uint8_t *sender, const uint8_t *target)
{
	struct ether_arp arp = {.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
					   .ar_pro = htons(ETH_P_IP),
					   .ar_hln = 6,
					   .ar_pln = 4,
					   .ar_op = htons(ARPOP_REQUEST)}};

	memcpy(arp.arp_sha, mac, 6);
	memcpy(arp.arp_spa, sender, 4);
	memcpy(arp.arp_tpa, target, 4);
	frame->protocol = ETH_P_ARP;
	memset(frame->to, 0xff, 6);
	memcpy(frame->bytes, &arp, sizeof(arp));
	frame->len = sizeof(arp);
}

static uint16_t checksum(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i += 2)
		sum += (uint32_t)data[i] << 8 | (i + 1 < len ? data[i + 1] : 0);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* The message `icmp` in an IPv6 packet to a multicast group. RFC 4861 wants hop limit 255. */
static void put_icmp6(struct frame *frame, const uint8_t *from, const uint8_t *to, void *icmp, size_t len)
{
	struct ip6_hdr ip = {.ip6_plen = htons((uint16_t)len), .ip6_nxt = IPPROTO_ICMPV6, .ip6_hlim = 255};
	uint16_t sum;

	ip.ip6_vfc = 6 << 4;
	memcpy(&ip.ip6_src, from, 16);
	memcpy(&ip.ip6_dst, to, 16);
	memcpy(frame->bytes, &ip, sizeof(ip));
	memcpy(frame->bytes + sizeof(ip), icmp, len);
	/* The pseudo header: both addresses, the length, the protocol (RFC 8200 8.1). */
	sum = checksum((uint32_t)len + IPPROTO_ICMPV6, frame->bytes + offsetof(struct ip6_hdr, ip6_src), 32 + len);
	memcpy(frame->bytes + sizeof(ip) + offsetof(struct icmp6_hdr, icmp6_cksum), &sum, sizeof(sum));
	frame->protocol = ETH_P_IPV6;
	frame->len = sizeof(ip) + len;
	/* RFC 2464 7. */
	memcpy(frame->to, (const uint8_t[]){0x33, 0x33, to[12], to[13], to[14], to[15]}, 6);
}

static void put_neighbour_advertisement(struct frame *frame, const uint8_t *address, const uint8_t *mac)
{
	static const uint8_t ALL_NODES[16] = {0xff, 0x02, [15] = 1};
	struct {
		struct nd_neighbor_advert advert;
		struct nd_opt_hdr option;
		uint8_t mac[6];
	} message = {.option = {.nd_opt_type = ND_OPT_TARGET_LINKADDR, .nd_opt_len = 1}};

	message.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
	message.advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
	memcpy(&message.advert.nd_na_target, address, 16);
	memcpy(message.mac, mac, 6);
	put_icmp6(frame, address, ALL_NODES, &message, sizeof(message));
}

static void put_neighbour_solicitation(struct frame *frame, const uint8_t *address)
{
	static const uint8_t UNSPECIFIED[16];
	uint8_t solicited_node[16] = {0xff, 0x02, [11] = 1, [12] = 0xff};
	struct nd_neighbor_solicit message = {.nd_ns_type = ND_NEIGHBOR_SOLICIT};

	memcpy(solicited_node + 13, address + 13, 3);
	memcpy(&message.nd_ns_target, address, 16);
	put_icmp6(frame, UNSPECIFIED, solicited_node, &message, sizeof(message));
}

void frame_announce(struct frame *frame, const struct address *address, const uint8_t *mac)
{
	if (address->family == AF_INET)
		put_arp(frame, mac, address->bytes, address->bytes);
	else
		put_neighbour_advertisement(frame, address->bytes, mac);
}

void frame_probe(struct frame *frame, const struct address *address, const uint8_t *mac)
{
	static const uint8_t NOBODY[4];

	if (address->family == AF_INET)
		put_arp(frame, mac, NOBODY, address->bytes);
	else
		put_neighbour_solicitation(frame, address->bytes);
}
