/*
 * Netlink requests. The kernel handles a request within sendto, so its answers are queued when that returns, and nothing
 * here waits.
 */
#pragma once
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void netlink_set_up(int fd);
/* Sends one or more messages; 0 or errno. */
int netlink_send(int fd, const void *messages, size_t len);
/* Calls `message` for every queued message, and reads a dump to its end. 0 or errno. */
int netlink_receive(int fd, void (*message)(const struct nlmsghdr *message, void *arg), void *arg);
/* Sends, and receives the answers. 0 or errno. */
int netlink_ask(int fd, const void *messages, size_t len, void (*message)(const struct nlmsghdr *message, void *arg), void *arg);

struct netlink_refusal {
	uint32_t seq;
	int err;
	/* Where in the message the fault is; -1 when the kernel does not say. */
	int64_t offset;
};

/* Whether the message says that a request (or a dump) failed. */
bool netlink_refused(const struct nlmsghdr *message, struct netlink_refusal *out);

/* The attribute of that type in a nest; NULL when there is no nest or no such attribute. */
const struct nlattr *netlink_attr_in(const struct nlattr *nest, uint16_t type);
/* Copies the first `len` bytes of a payload; false when there is no attribute or it is shorter. */
bool netlink_attr_copy(const struct nlattr *attr, void *out, size_t len);
