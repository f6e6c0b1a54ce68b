#include "bound.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "../net/netlink.h"

/* The mover binds no IPv6 address: it adds a local route and a proxied neighbour (native/mover/proxied.h). */
static const int GROUPS[] = {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_ROUTE};
/* A dump that changes interrupted may lack something and is repeated, at most this often. */
#define ASKS 16
/* The index of lo in every namespace. All nodes have routes on lo, so these do not tell which node has the address. */
#define LOOPBACK 1

bool bound_open(struct domain *domain)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

	domain->address_fd = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return false;
	netlink_set_up(fd);
	for (size_t i = 0; i < sizeof(GROUPS) / sizeof(*GROUPS); i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &GROUPS[i], sizeof(int)) < 0)
			return false;
	return true;
}

static void hold(struct domain *domain, uint8_t family, const void *address, bool held)
{
	for (size_t i = 0; i < domain->shared_count; i++) {
		if (domain->shared[i].family != family ||
		    memcmp(domain->shared[i].bytes, address, address_len(family)) != 0 || domain->bound[i] == held)
			continue;
		domain->bound[i] = held;
		domain->bound_changed = true;
		domain->bound_gained = domain->bound_gained || held;
		/* Another interface may still have the address, or another route may lead to it. */
		domain->bound_uncertain = domain->bound_uncertain || !held;
	}
}

static void note_address(const struct nlmsghdr *message, void *arg)
{
	const struct ifaddrmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *address = NULL;
	uint32_t flags;

	if ((message->nlmsg_type != RTM_NEWADDR && message->nlmsg_type != RTM_DELADDR) ||
	    message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)) || body->ifa_family != AF_INET)
		return;
	flags = body->ifa_flags;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		uint16_t type = mnl_attr_get_type(attr);
		/* On a point-to-point link IFA_ADDRESS is the peer's address. */
		if (type == IFA_LOCAL || (type == IFA_ADDRESS && address == NULL))
			address = attr;
		else if (type == IFA_FLAGS)
			flags = mnl_attr_get_u32(attr);
	}
	if (address != NULL && mnl_attr_get_payload_len(address) == address_len(body->ifa_family))
		hold(arg, body->ifa_family, mnl_attr_get_payload(address),
		     message->nlmsg_type == RTM_NEWADDR && !(flags & IFA_F_TENTATIVE));
}

static void note_route(const struct nlmsghdr *message, void *arg)
{
	const struct rtmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *to = NULL;
	uint32_t ifindex = LOOPBACK;

	if ((message->nlmsg_type != RTM_NEWROUTE && message->nlmsg_type != RTM_DELROUTE) ||
	    message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)) || body->rtm_family != AF_INET6 || body->rtm_dst_len != 128 ||
	    body->rtm_table != RT_TABLE_LOCAL || body->rtm_type != RTN_LOCAL)
		return;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		if (mnl_attr_get_type(attr) == RTA_DST)
			to = attr;
		else if (mnl_attr_get_type(attr) == RTA_OIF)
			ifindex = mnl_attr_get_u32(attr);
	}
	if (ifindex != LOOPBACK && to != NULL && mnl_attr_get_payload_len(to) == 16)
		hold(arg, AF_INET6, mnl_attr_get_payload(to), message->nlmsg_type == RTM_NEWROUTE);
}

static void note(const struct nlmsghdr *message, void *arg)
{
	struct domain *domain = arg;
	struct netlink_refusal refusal;

	/* A dump that was interrupted by changes, or failed, may be incomplete. */
	if ((message->nlmsg_flags & NLM_F_DUMP_INTR) || netlink_refused(message, &refusal))
		domain->bound_uncertain = true;
	note_address(message, arg);
	note_route(message, arg);
}

static int ask(struct domain *domain, uint16_t type)
{
	_Alignas(struct nlmsghdr) char space[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = ++domain->seq;
	if (type == RTM_GETADDR) {
		struct ifaddrmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
		body->ifa_family = AF_INET;
	} else {
		struct rtmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
		body->rtm_family = AF_INET6;
		body->rtm_table = RT_TABLE_LOCAL;
		body->rtm_type = RTN_LOCAL;
	}
	return netlink_ask(domain->address_fd, message, message->nlmsg_len, note, domain);
}

static int query_all(struct domain *domain)
{
	int err;

	for (size_t i = 0; i < domain->shared_count; i++) {
		domain->bound_changed = domain->bound_changed || domain->bound[i];
		domain->bound[i] = false;
	}
	domain->bound_uncertain = false;
	err = ask(domain, RTM_GETADDR);
	if (err == 0)
		err = ask(domain, RTM_GETROUTE);
	domain->bound_uncertain = domain->bound_uncertain || err != 0;
	return err;
}

int bound_query(struct domain *domain)
{
	int err = query_all(domain);

	for (int asks = 1; err == 0 && domain->bound_uncertain && asks < ASKS; asks++)
		err = query_all(domain);
	return err;
}

void bound_read(struct domain *domain)
{
	/* The receive queue overflowed: events are lost. */
	if (netlink_receive(domain->address_fd, note, domain) != 0)
		domain->bound_uncertain = true;
}

bool bound_has(const struct domain *domain, uint8_t family, const void *address)
{
	for (size_t i = 0; i < domain->shared_count; i++)
		if (domain->bound[i] && domain->shared[i].family == family &&
		    memcmp(domain->shared[i].bytes, address, address_len(family)) == 0)
			return true;
	return false;
}
