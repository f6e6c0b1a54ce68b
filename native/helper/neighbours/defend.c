/*
 * defend: reports when another host on the segment claims an address of ours, and announces the address again.
 *
 * RFC 5227 2.4 (c), for hosts that never give an address up: one announcement, and no other within DEFEND_INTERVAL, so
 * that two hosts that both defend an address do not loop. IPv6 has no such rule; there we send an advertisement with the
 * override flag (RFC 4861 7.2.6).
 */
#include "defend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "claim_filter.h"
#include "claim_packet.h"
#include "defended_list.h"
#include "frame_send.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

#define DEFEND_INTERVAL_US 10000000
/* Claims read in each period. After that the filter drops the rest. */
#define CLAIMS_PER_PERIOD 100
#define PERIOD_US 1000000
/* When the agent does not read, claims are dropped before replies. */
#define MAX_UNREAD (1u << 20)

/* One family of one interface. */
struct listener {
	struct watch watch;
	struct defender *defender;
	int family;
	struct claim_ranges ranges;
	bool blocked; /* the filter lets nothing through until the period ends */
};

struct defender {
	struct defender *next;
	struct netns *netns;
	char dev[IFNAMSIZ];
	int ifindex;
	uint8_t mac[6];
	struct listener listeners[2];
	struct timer period;
	unsigned heard; /* in this period */
	struct defended_list list;
};

static const struct claim_ranges NOTHING = {.count = 0};

static void tell(const struct defender *defender, const struct defended *defended, const uint8_t *mac)
{
	struct buf *out = &defender->netns->helper->out;
	char text[ADDRESS_TEXT];

	if (out->len > MAX_UNREAD)
		return;
	reply_event(out, "claim");
	reply_text(out, "netns", defender->netns->path);
	reply_text(out, "dev", defender->dev);
	reply_text(out, "address", address_print(text, defended->address.family, defended->address.bytes));
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	reply_text(out, "mac", text);
	reply_number(out, "claims", defended->claims);
	reply_end(out);
}

static void heard(struct defender *defender, const struct claim *claim)
{
	struct defended *defended = defended_find(&defender->list, &claim->address);
	uint64_t now = loop_now_us();
	struct frame frame;

	/* Read again, since the interface's own address may have changed. */
	if (defended == NULL || !netns_mac(defender->netns, defender->dev, defender->mac) || memcmp(claim->mac, defender->mac, 6) == 0)
		return;
	defended->claims++;
	if (defended->defended_us != 0 && now - defended->defended_us < DEFEND_INTERVAL_US)
		return;
	defended->defended_us = now;
	frame_announce(&frame, &claim->address, defender->mac);
	frame_send(defender->netns, defender->ifindex, &frame);
	tell(defender, defended, claim->mac);
	defended->claims = 0;
}

static void set_filter(struct listener *listener, bool blocked)
{
	listener->blocked = blocked;
	if (listener->watch.fd >= 0)
		claim_filter_attach(listener->watch.fd, listener->family, blocked ? &NOTHING : &listener->ranges);
}

static void period_over(struct timer *timer)
{
	struct defender *defender = container_of(timer, struct defender, period);

	defender->heard = 0;
	for (size_t i = 0; i < 2; i++)
		if (defender->listeners[i].blocked)
			set_filter(&defender->listeners[i], false);
}

static bool may_hear(struct defender *defender)
{
	if (defender->heard == 0)
		loop_timer(&defender->netns->helper->loop, &defender->period, loop_now_us() + PERIOD_US);
	if (defender->heard < CLAIMS_PER_PERIOD)
		return ++defender->heard > 0;
	for (size_t i = 0; i < 2; i++)
		if (!defender->listeners[i].blocked)
			set_filter(&defender->listeners[i], true);
	return false;
}

static void claims_ready(struct watch *watch, uint32_t events)
{
	struct listener *listener = container_of(watch, struct listener, watch);
	struct defender *defender = listener->defender;
	uint8_t packet[256];
	struct sockaddr_ll from;
	struct claim claim;

	(void)events;
	while (watch->fd >= 0) {
		socklen_t from_len = sizeof(from);
		ssize_t len = recvfrom(watch->fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &from_len);
		if (len < 0)
			return;
		/* Packets that were queued before the filter was closed are dropped. */
		if (!may_hear(defender))
			continue;
		if (claim_read(&claim, listener->family, packet, (size_t)len, from.sll_addr))
			heard(defender, &claim);
	}
}

/* Bound to the interface, so packets of others cost nothing. The socket does not receive what this node sends. */
static bool open_listener(struct defender *defender, struct listener *listener)
{
	uint16_t protocol = listener->family == AF_INET ? ETH_P_ARP : ETH_P_IPV6;
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = defender->ifindex};
	/* Protocol 0: the socket receives nothing until the filter is set and it is bound. */
	int fd = netns_socket(defender->netns, AF_PACKET, SOCK_DGRAM, 0);

	if (fd < 0)
		return false;
	listener->watch.ready = claims_ready;
	if (!claim_filter_attach(fd, listener->family, listener->blocked ? &NOTHING : &listener->ranges) ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    !loop_watch(&defender->netns->helper->loop, &listener->watch, fd, EPOLLIN)) {
		int err = errno;
		close(fd);
		errno = err;
		return false;
	}
	return true;
}

static int ascending(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	return a < b ? -1 : a > b ? 1 : 0;
}

static bool refresh(struct defender *defender, struct listener *listener)
{
	uint32_t *keys = memory_new((defender->list.count + 1) * sizeof(*keys));
	size_t count = 0;

	for (size_t i = 0; i < defender->list.count; i++)
		if (defender->list.items[i].address.family == listener->family)
			keys[count++] = claim_key(&defender->list.items[i].address);
	/* IPv6 addresses are sorted by the whole address, not by the key. */
	qsort(keys, count, sizeof(*keys), ascending);
	claim_ranges_make(&listener->ranges, keys, count);
	free(keys);
	if (count > 0 && listener->watch.fd < 0)
		return open_listener(defender, listener);
	set_filter(listener, listener->blocked);
	return true;
}

static void end(struct defender *defender)
{
	struct defender **link = &defender->netns->defenders;

	while (*link != defender)
		link = &(*link)->next;
	*link = defender->next;
	for (size_t i = 0; i < 2; i++)
		loop_close(&defender->listeners[i].watch);
	loop_untimer(&defender->netns->helper->loop, &defender->period);
	free(defender->list.items);
	netns_release(defender->netns);
	loop_free(&defender->netns->helper->loop, defender);
}

void defenders_drop(struct netns *netns)
{
	while (netns->defenders != NULL)
		end(netns->defenders);
}

static struct defender *defender_of(struct netns *netns, const char *dev)
{
	struct defender *defender = netns->defenders;

	while (defender != NULL && strcmp(defender->dev, dev) != 0)
		defender = defender->next;
	if (defender != NULL)
		return defender;
	defender = memory_new(sizeof(*defender));
	defender->netns = netns;
	strncpy(defender->dev, dev, IFNAMSIZ - 1);
	defender->period.fire = period_over;
	for (size_t i = 0; i < 2; i++) {
		struct listener *listener = &defender->listeners[i];
		*listener = (struct listener){.watch.fd = -1, .defender = defender, .family = i == 0 ? AF_INET : AF_INET6};
	}
	defender->next = netns->defenders;
	netns->defenders = defender;
	netns_hold(netns);
	return defender;
}

/*
 * A new interface has none of the addresses of the one that it replaced, and no listener. Another node may have taken the
 * addresses over meanwhile, so they must not be defended: that would take them back.
 */
static void follow_interface(struct defender *defender, int ifindex, const uint8_t *mac)
{
	memcpy(defender->mac, mac, 6);
	if (defender->ifindex == ifindex)
		return;
	defender->ifindex = ifindex;
	defender->list.count = 0;
	for (size_t i = 0; i < 2; i++)
		loop_close(&defender->listeners[i].watch);
}

static bool check(struct request *request, const struct json *item, const char *name)
{
	struct address address;

	for (; item != NULL; item = item->next)
		if (item->type != JSON_STRING || !address_parse(&address, item->text))
			return fail(request, "%s contains something that is not an address", name);
	return true;
}

/* Adds the addresses. `stale` becomes true for a family with an address that the filter does not pass yet. */
static void add_all(struct defender *defender, const struct json *item, bool stale[2])
{
	for (; item != NULL; item = item->next) {
		struct address address;
		address_parse(&address, item->text);
		if (defended_find(&defender->list, &address) != NULL)
			continue;
		defended_add(&defender->list, &address);
		for (size_t i = 0; i < 2; i++)
			if (defender->listeners[i].family == address.family &&
			    !claim_ranges_hold(&defender->listeners[i].ranges, claim_key(&address)))
				stale[i] = true;
	}
}

static void remove_all(struct defender *defender, const struct json *item)
{
	for (; item != NULL; item = item->next) {
		struct defended *defended;
		struct address address;
		address_parse(&address, item->text);
		defended = defended_find(&defender->list, &address);
		/* The filter may pass too much: the reader compares whole addresses. */
		if (defended != NULL)
			defended_remove(&defender->list, defended);
	}
}

bool op_defend(struct request *request)
{
	const struct json *add, *gone;
	struct defender *defender;
	bool stale[2] = {false, false};
	struct netns *netns;
	const char *dev;
	uint8_t mac[6];
	int ifindex;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex) ||
	    !field_text(request, request->fields, "dev", &dev) || !field_list(request, request->fields, "add", &add) ||
	    !field_list(request, request->fields, "remove", &gone) || !check(request, add, "add") ||
	    !check(request, gone, "remove"))
		return false;
	if (!netns_mac(netns, dev, mac))
		return fail_errno(request, errno, "dev %.64s", dev);

	defender = defender_of(netns, dev);
	follow_interface(defender, ifindex, mac);
	remove_all(defender, gone);
	add_all(defender, add, stale);
	if (defender->list.count == 0) {
		end(defender);
		return reply_done(request);
	}
	for (size_t i = 0; i < 2; i++) {
		bool is_closed = defender->listeners[i].watch.fd < 0;
		if ((is_closed || stale[i]) && !refresh(defender, &defender->listeners[i]))
			return fail_errno(request, errno, "packet socket");
	}
	return reply_done(request);
}
