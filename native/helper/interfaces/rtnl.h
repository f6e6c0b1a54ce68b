/* Changes of addresses and routes over rtnetlink: every change is tried, and the refused ones are named. */
#pragma once
#include <linux/rtnetlink.h>

#include "../../net/netlink.h"
#include "../requests/request.h"

/* Writes one change as a message; the sequence number is filled in later. */
typedef bool rtnl_change(struct request *request, struct netns *netns, const struct json *change, struct nlmsghdr *message);

/* Does the request's `changes` and replies. */
bool rtnl_apply(struct request *request, rtnl_change *write);

/* Dumps; calls `item` for each message of the answer. */
bool rtnl_dump(struct request *request, struct netns *netns, struct nlmsghdr *message,
	       void (*item)(const struct nlmsghdr *message, void *arg), void *arg);

/* `do` of a change: true for `adding`, false for `delete`. */
bool rtnl_verb(struct request *request, const struct json *change, const char *adding, bool *out);
