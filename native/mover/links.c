#include "links.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../net/netlink.h"
#include "closer.h"
#include "neighbour_queue.h"

#define RUNS (IFF_UP | IFF_RUNNING)
#define EVENTS 16

static int watch = -1;

int links_open(void)
{
	watch = epoll_create1(EPOLL_CLOEXEC);
	return watch;
}

void links_watch(struct place *place)
{
	struct sockaddr_nl groups = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = place};

	place->link_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (place->link_fd >= 0 && (bind(place->link_fd, (struct sockaddr *)&groups, sizeof(groups)) < 0 ||
				    epoll_ctl(watch, EPOLL_CTL_ADD, place->link_fd, &event) < 0)) {
		close(place->link_fd);
		place->link_fd = -1;
	}
}

void links_forget(struct place *place)
{
	/* Another thread closes it later. Until then it must cause no events. */
	if (place->link_fd >= 0)
		epoll_ctl(watch, EPOLL_CTL_DEL, place->link_fd, NULL);
	close_aside(place->link_fd);
	place->link_fd = -1;
}

static void note_link(const struct nlmsghdr *message, void *arg)
{
	struct place *place = arg;
	const struct ifinfomsg *body = mnl_nlmsg_get_payload(message);
	bool runs;

	if (message->nlmsg_type != RTM_NEWLINK || body->ifi_index != place->ifindex)
		return;
	runs = (body->ifi_flags & RUNS) == RUNS;
	place->back = place->back || (runs && !place->runs);
	place->runs = runs;
}

static bool forget_proxied(struct mover *mover, const struct place *place)
{
	bool any = false;

	for (size_t i = 0; i < mover->table.count; i++) {
		struct entry *entry = &mover->table.entries[i];
		if (entry->place != place || !entry->bound || !entry->proxied)
			continue;
		entry->bound = false;
		any = true;
	}
	return any;
}

bool links_read(struct mover *mover)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(watch, events, EVENTS, 0);
	bool any = false;

	for (int i = 0; i < count; i++) {
		struct place *place = events[i].data.ptr;
		/* Events were lost; one of them may have been this. */
		while (netlink_receive(place->link_fd, note_link, place) == ENOBUFS)
			place->back = true;
		/* Only on the fabric: tenants' segments carry no adverts. */
		if (place->back && place->path == NULL)
			neighbour_queue_flush(place);
		if (place->back)
			any = forget_proxied(mover, place) || any;
		place->back = false;
		if (!place->runs && place->path == NULL && mover->flush_us == 0)
			mover->flush_us = now_us();
	}
	return any;
}

bool links_flush(const struct mover *mover)
{
	bool any = false;

	for (size_t i = 0; i < PLACE_BUCKETS; i++)
		for (const struct place *place = mover->places[i]; place != NULL; place = place->next) {
			if (place->path != NULL || place->ifindex == 0 || place->runs)
				continue;
			neighbour_queue_flush(place);
			any = true;
		}
	return any;
}
