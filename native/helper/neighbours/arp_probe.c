/* arp-probe: whether another host on the segment answers for an address. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "frame_send.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

/* RFC 5227 PROBE_NUM. */
#define PROBES 3

struct neighbour_probe {
	struct neighbour_probe *next;
	struct netns *netns;
	int64_t id;
	int ifindex;
	struct address address;
	struct frame frame;
	struct timer timer;
	uint64_t interval_us;
	int sent;
};

/*
 * One socket of each kind for a namespace, kept open (closing one waits for an RCU grace period). A filter in the
 * kernel passes packets that can be an answer, and nothing while no probe is in flight.
 */
static const struct sock_filter NOTHING[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
static const struct sock_filter EVERYTHING[] = {BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)};
static const struct sock_filter ADVERTISEMENTS[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct ip6_hdr, ip6_nxt)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 3),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, sizeof(struct ip6_hdr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_ADVERT, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

static bool set_filter(int fd, const struct sock_filter *filter, size_t size)
{
	struct sock_fprog program = {.len = (unsigned short)(size / sizeof(*filter)), .filter = (struct sock_filter *)filter};
	return fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

static void end(struct neighbour_probe *probe)
{
	struct netns *netns = probe->netns;
	struct neighbour_probe **link = &netns->neighbour_probes;

	while (*link != probe)
		link = &(*link)->next;
	*link = probe->next;
	if (netns->neighbour_probes == NULL) {
		set_filter(netns->arp.fd, NOTHING, sizeof(NOTHING));
		set_filter(netns->ndp.fd, NOTHING, sizeof(NOTHING));
	}
	netns->helper->probes--;
	loop_untimer(&netns->helper->loop, &probe->timer);
	netns_release(netns);
	free(probe);
}

static void answer(struct neighbour_probe *probe, const uint8_t *mac)
{
	struct buf *out = &probe->netns->helper->out;
	char text[18];

	reply_begin(out, probe->id);
	reply_flag(out, "answered", mac != NULL);
	if (mac != NULL) {
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
		reply_text(out, "mac", text);
	}
	reply_end(out);
	end(probe);
}

static void heard(struct netns *netns, int ifindex, const struct address *address, const uint8_t *mac)
{
	struct neighbour_probe *next;

	for (struct neighbour_probe *probe = netns->neighbour_probes; probe != NULL; probe = next) {
		next = probe->next;
		if (probe->ifindex == ifindex && address_equal(&probe->address, address))
			answer(probe, mac);
	}
}

/* Reads the next packet that this node did not send. False when there are no more. */
static bool receive(int fd, void *data, size_t size, size_t *len, struct sockaddr_ll *from)
{
	socklen_t from_len = sizeof(*from);
	ssize_t got;

	do
		got = recvfrom(fd, data, size, 0, (struct sockaddr *)from, &from_len);
	while (got >= 0 && from->sll_pkttype == PACKET_OUTGOING);
	*len = got < 0 ? 0 : (size_t)got;
	return got >= 0;
}

/* Any ARP packet with the address as its sender means that it is in use (RFC 5227 2.1.1). */
static void arp_ready(struct watch *watch, uint32_t events)
{
	struct netns *netns = container_of(watch, struct netns, arp);
	struct sockaddr_ll from;
	struct ether_arp arp;
	size_t len;

	(void)events;
	while (watch->fd >= 0 && receive(watch->fd, &arp, sizeof(arp), &len, &from)) {
		struct address sender = {.family = AF_INET};
		if (len < sizeof(arp))
			continue;
		memcpy(sender.bytes, arp.arp_spa, 4);
		heard(netns, from.sll_ifindex, &sender, arp.arp_sha);
	}
}

static void ndp_ready(struct watch *watch, uint32_t events)
{
	struct netns *netns = container_of(watch, struct netns, ndp);
	struct {
		struct ip6_hdr ip;
		struct nd_neighbor_advert advert;
	} packet;
	struct sockaddr_ll from;
	size_t len;

	(void)events;
	while (watch->fd >= 0 && receive(watch->fd, &packet, sizeof(packet), &len, &from)) {
		struct address target = {.family = AF_INET6};
		if (len < sizeof(packet) || packet.ip.ip6_hlim != 255)
			continue;
		memcpy(target.bytes, &packet.advert.nd_na_target, 16);
		heard(netns, from.sll_ifindex, &target, from.sll_addr);
	}
}

/* Opens the listening socket of the address's family, and lets answers through its filter. */
static bool listen_for(struct netns *netns, int family)
{
	struct watch *watch = family == AF_INET ? &netns->arp : &netns->ndp;
	int fd;

	if (watch->fd < 0) {
		fd = netns_socket(netns, AF_PACKET, SOCK_DGRAM, htons(family == AF_INET ? ETH_P_ARP : ETH_P_IPV6));
		if (fd < 0)
			return false;
		watch->ready = family == AF_INET ? arp_ready : ndp_ready;
		if (!loop_watch(&netns->helper->loop, watch, fd, EPOLLIN)) {
			close(fd);
			return false;
		}
	}
	return family == AF_INET ? set_filter(watch->fd, EVERYTHING, sizeof(EVERYTHING))
				 : set_filter(watch->fd, ADVERTISEMENTS, sizeof(ADVERTISEMENTS));
}

static void next_probe(struct timer *timer)
{
	struct neighbour_probe *probe = container_of(timer, struct neighbour_probe, timer);

	if (probe->netns->gone || probe->sent == PROBES) {
		answer(probe, NULL);
		return;
	}
	frame_send(probe->netns, probe->ifindex, &probe->frame);
	probe->sent++;
	loop_timer(&probe->netns->helper->loop, timer, loop_now_us() + probe->interval_us);
}

bool op_arp_probe(struct request *request)
{
	struct neighbour_probe *probe;
	struct address address;
	int64_t timeout_ms;
	struct netns *netns;
	const char *dev;
	uint8_t mac[6];
	int ifindex, err;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex) ||
	    !field_text(request, request->fields, "dev", &dev) ||
	    !field_address(request, request->fields, "address", &address) ||
	    !field_number(request, request->fields, "timeoutMs", 1, 60000, &timeout_ms))
		return false;
	if (!netns_mac(netns, dev, mac))
		return fail_errno(request, errno, "dev %.64s", dev);
	if (!listen_for(netns, address.family))
		return fail_errno(request, errno, "packet socket");

	probe = memory_new(sizeof(*probe));
	probe->netns = netns;
	probe->id = request->id;
	probe->ifindex = ifindex;
	probe->address = address;
	probe->interval_us = (uint64_t)timeout_ms * 1000 / PROBES;
	probe->timer.fire = next_probe;
	probe->next = netns->neighbour_probes;
	netns->neighbour_probes = probe;
	netns_hold(netns);
	request->helper->probes++;

	frame_probe(&probe->frame, &address, mac);
	err = frame_send(netns, ifindex, &probe->frame);
	if (err != 0) {
		end(probe);
		return fail_errno(request, err, "dev %.64s", dev);
	}
	probe->sent = 1;
	loop_timer(&request->helper->loop, &probe->timer, loop_now_us() + probe->interval_us);
	return true;
}
