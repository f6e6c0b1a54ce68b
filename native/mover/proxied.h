/*
 * IPv6 addresses that are proxied instead of bound: a local route accepts their packets, and a proxied neighbour makes the
 * kernel answer solicitations and join the multicast group that they are sent to.
 *
 * Binding an address is too slow: for each one the kernel walks the multicast groups of all others, and for each of these
 * all groups that were left recently (inet6_rtm_newaddr, ipv6_find_idev, ipv6_mc_up, mld_del_delrec). Binding a thousand
 * that return to a node takes 2 s of kernel time; proxying them takes 10 ms.
 */
#pragma once
#include <libmnl/libmnl.h>

#include "mover.h"

/* Enables proxying on the interface, without delay. Called inside the place's namespace. */
bool proxied_prepare(const char *dev);
/* Whether the kernel proxies there: it does so only on interfaces that forward. */
bool proxied_possible(const struct place *place);
/* Writes the messages that bind or unbind, all with sequence number `seq`. Returns their length. */
size_t proxied_put(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq);
/* Dumps the routes or neighbours of the place that the mover made. 0 or errno. */
int proxied_dump(const struct place *place, uint16_t type, void (*message)(const struct nlmsghdr *message, void *arg), void *arg);
/* Whether the message is about one of them; writes its address. */
bool proxied_read(const struct place *place, const struct nlmsghdr *message, struct address *out);
