/* Messages of ctnetlink, the netlink interface to the kernel's connection tracking. */
#pragma once
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdbool.h>
#include <stdint.h>

#define CT_TYPE(message) (NFNL_SUBSYS_CTNETLINK << 8 | (message))

/* An address and a port. Bytes that the address does not fill are 0. */
struct end {
	uint8_t bytes[16];
	uint16_t port; /* network order */
};

/* One direction of an entry. */
struct tuple {
	struct end src, dst;
};

/* Starts a request of one of IPCTNL_MSG_CT_*; `space` is filled from its start. */
struct nlmsghdr *ct_begin(void *space, uint16_t type, uint16_t flags, int family);
/* `type`: CTA_TUPLE_ORIG or CTA_TUPLE_REPLY. A filter's tuple may have one end alone: NULL leaves the other out. */
void ct_put_tuple(struct nlmsghdr *message, uint16_t type, int family, uint8_t protocol, const struct end *src, const struct end *dst);
/* The attributes of a message by type; of CTA_MAX + 1. */
void ct_attrs(const struct nlmsghdr *message, const struct nlattr **out);
/* False without addresses of that family, or when the protocol has no ports. */
bool ct_read_tuple(const struct nlattr *nest, int family, struct tuple *out, uint8_t *protocol);
/* enum tcp_conntrack, of CTA_PROTOINFO. False when there is none. */
bool ct_read_tcp_state(const struct nlattr *info, uint8_t *out);
/* The address family of a message. */
int ct_family(const struct nlmsghdr *message);
