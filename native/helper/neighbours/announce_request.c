/* Operation announce: announces the addresses of one request on a segment, in several rounds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>

#include "frame_send.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

/* The remaining rounds of one request. */
struct announcement {
	struct announcement *next;
	struct timer timer;
	struct netns *netns;
	char dev[IFNAMSIZ];
	uint64_t interval_us;
	int64_t rounds;
	size_t count;
	struct address addresses[];
};

/* Sends for every address; 0 or the first errno. */
static int send_round(const struct announcement *announcement)
{
	struct netns *netns = announcement->netns;
	/* Looked up in each round: the interface may have been replaced, or its address changed. */
	int ifindex = netns_ifindex(netns, announcement->dev), first = 0;
	uint8_t mac[6];

	if (ifindex == 0 || !netns_mac(netns, announcement->dev, mac))
		return errno;
	for (size_t i = 0; i < announcement->count; i++) {
		struct frame frame;
		int err;
		frame_announce(&frame, &announcement->addresses[i], mac);
		err = frame_send(netns, ifindex, &frame);
		if (err != 0 && first == 0)
			first = err;
	}
	return first;
}

static void end(struct announcement *announcement)
{
	struct helper *helper = announcement->netns->helper;
	struct announcement **link = &helper->announcements;

	while (*link != NULL && *link != announcement)
		link = &(*link)->next;
	if (*link != NULL)
		*link = announcement->next;
	loop_untimer(&helper->loop, &announcement->timer);
	netns_release(announcement->netns);
	free(announcement);
}

static void next_round(struct timer *timer)
{
	struct announcement *announcement = container_of(timer, struct announcement, timer);

	/* The request was answered already, so a failed round is not reported. The next one may succeed. */
	if (!announcement->netns->gone)
		send_round(announcement);
	if (announcement->netns->gone || --announcement->rounds == 0)
		end(announcement);
	else
		loop_timer(&announcement->netns->helper->loop, timer, loop_now_us() + announcement->interval_us);
}

static int compare(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct address));
}

static bool names(const struct announcement *sorted, const struct address *address)
{
	return bsearch(address, sorted->addresses, sorted->count, sizeof(*address), compare) != NULL;
}

/*
 * Removes the addresses of a new request from the remaining rounds of older ones. Otherwise an address that was just
 * withdrawn would be announced again.
 */
static void supersede(struct helper *helper, const struct announcement *by)
{
	struct announcement *next;

	for (struct announcement *old = helper->announcements; old != NULL; old = next) {
		size_t kept = 0;
		next = old->next;
		if (old->netns != by->netns || strcmp(old->dev, by->dev) != 0)
			continue;
		for (size_t i = 0; i < old->count; i++)
			if (!names(by, &old->addresses[i]))
				old->addresses[kept++] = old->addresses[i];
		old->count = kept;
		if (kept == 0)
			end(old);
	}
}

static bool read_addresses(struct request *request, const struct json *item, struct announcement *out)
{
	for (; item != NULL; item = item->next) {
		if (item->type != JSON_STRING || !address_parse(&out->addresses[out->count], item->text))
			return fail(request, "addresses contains something that is not an address");
		out->count++;
	}
	qsort(out->addresses, out->count, sizeof(*out->addresses), compare);
	return true;
}

static size_t length(const struct json *item)
{
	size_t count = 0;

	for (; item != NULL; item = item->next)
		count++;
	return count;
}

bool op_announce(struct request *request)
{
	struct helper *helper = request->helper;
	struct announcement *announcement;
	const struct json *addresses;
	int64_t rounds, interval_ms;
	struct netns *netns;
	const char *dev;
	int ifindex, err;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex) ||
	    !field_text(request, request->fields, "dev", &dev) ||
	    !field_list(request, request->fields, "addresses", &addresses) ||
	    !field_number(request, request->fields, "count", 0, 1000, &rounds) ||
	    !field_number(request, request->fields, "intervalMs", 1, 3600000, &interval_ms))
		return false;

	announcement = memory_new(sizeof(*announcement) + length(addresses) * sizeof(struct address));
	announcement->timer.fire = next_round;
	announcement->interval_us = (uint64_t)interval_ms * 1000;
	announcement->rounds = rounds - 1;
	announcement->netns = netns;
	strncpy(announcement->dev, dev, IFNAMSIZ - 1);
	if (!read_addresses(request, addresses, announcement)) {
		free(announcement);
		return false;
	}
	netns_hold(netns);
	supersede(helper, announcement);
	err = rounds == 0 ? 0 : send_round(announcement);
	if (err == 0 && rounds > 1 && announcement->count > 0) {
		announcement->next = helper->announcements;
		helper->announcements = announcement;
		loop_timer(&helper->loop, &announcement->timer, loop_now_us() + announcement->interval_us);
	} else {
		end(announcement);
	}
	return err == 0 ? reply_done(request) : fail_errno(request, err, "dev %.64s", dev);
}
