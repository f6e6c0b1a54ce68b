/*
 * IPv6 addresses that this node answers for without having them: a local route takes their packets, and a proxied
 * neighbour has the kernel answer solicitations and join the group that they are sent to.
 *
 * An address proper costs too much: for each one the kernel goes through the multicast groups of all others, and for each
 * of these through all that were lately left (inet6_rtm_newaddr, ipv6_find_idev, ipv6_mc_up, mld_del_delrec). A thousand
 * that come back to a node take 2 s of computing in the kernel; so they take 10 ms.
 */
#pragma once
#include <libmnl/libmnl.h>

#include "mover.h"

/* Has the kernel answer for others on the interface, at once. To be called in the place's namespace. */
bool proxied_prepare(const char *dev);
/* Whether the kernel does answer there: it does so on interfaces that forward alone. */
bool proxied_possible(const struct place *place);
/* Writes the messages that bind or unbind, all of this number; their length. */
size_t proxied_put(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq);
/* Asks for all routes or neighbours of the place that the mover made; 0 or errno. */
int proxied_dump(const struct place *place, uint16_t type, void (*message)(const struct nlmsghdr *message, void *arg), void *arg);
/* Whether the message tells of one of them, and of which address. */
bool proxied_read(const struct place *place, const struct nlmsghdr *message, struct address *out);
