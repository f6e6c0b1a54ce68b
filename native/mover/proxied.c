#include "proxied.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../net/netlink.h"

/* A metric of our own, so that we never replace a route of others to the same address. */
#define METRIC MARK

/* Writes only if the value differs: a read-only setting may have the right value already. */
static bool set(const char *path, const char *value)
{
	size_t len = strlen(value);
	char now[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && read(fd, now, sizeof(now) - 1) > 0 && strncmp(now, value, len) == 0 && now[len] == '\n';

	if (fd >= 0)
		close(fd);
	if (done)
		return true;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, value, len) == (ssize_t)len;
	close(fd);
	return done;
}

bool proxied_prepare(const char *dev)
{
	char path[128];

	/* By default a proxy delays its answer, so that the real owner may answer first (RFC 4861 7.2.8). */
	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/neigh/%s/proxy_delay", dev);
	if (!set(path, "0"))
		return false;
	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/proxy_ndp", dev);
	return set(path, "1");
}

static void note_settings(const struct nlmsghdr *message, void *arg)
{
	bool *possible = arg, forwards = false, proxies = false;
	const struct nlattr *attr;

	if (message->nlmsg_type != RTM_NEWNETCONF)
		return;
	mnl_attr_for_each(attr, message, sizeof(struct netconfmsg)) {
		if (mnl_attr_get_type(attr) == NETCONFA_FORWARDING)
			forwards = mnl_attr_get_u32(attr) != 0;
		if (mnl_attr_get_type(attr) == NETCONFA_PROXY_NEIGH)
			proxies = mnl_attr_get_u32(attr) != 0;
	}
	*possible = forwards && proxies;
}

bool proxied_possible(const struct place *place)
{
	_Alignas(struct nlmsghdr) uint8_t space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct netconfmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	bool possible = false;

	message->nlmsg_type = RTM_GETNETCONF;
	message->nlmsg_flags = NLM_F_REQUEST;
	body->ncm_family = AF_INET6;
	mnl_attr_put_u32(message, NETCONFA_IFINDEX, (uint32_t)place->ifindex);
	return place->prepared &&
	       netlink_ask(place->route_fd, message, message->nlmsg_len, note_settings, &possible) == 0 && possible;
}

static size_t put_route(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	struct rtmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));

	message->nlmsg_type = bind ? RTM_NEWROUTE : RTM_DELROUTE;
	/* A route with our metric on another interface is our leftover. */
	message->nlmsg_flags = NLM_F_REQUEST | (bind ? NLM_F_CREATE | NLM_F_REPLACE : 0);
	message->nlmsg_seq = seq;
	body->rtm_family = AF_INET6;
	body->rtm_dst_len = 128;
	body->rtm_table = RT_TABLE_LOCAL;
	body->rtm_protocol = MARK;
	body->rtm_type = RTN_LOCAL;
	mnl_attr_put(message, RTA_DST, 16, address->bytes);
	mnl_attr_put_u32(message, RTA_OIF, (uint32_t)place->ifindex);
	mnl_attr_put_u32(message, RTA_PRIORITY, METRIC);
	return NLMSG_ALIGN(message->nlmsg_len);
}

/* NTF_ROUTER: a node that forwards answers as a router. */
static size_t put_neighbour(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	struct ndmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));

	message->nlmsg_type = bind ? RTM_NEWNEIGH : RTM_DELNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | (bind ? NLM_F_CREATE : 0);
	message->nlmsg_seq = seq;
	body->ndm_family = AF_INET6;
	body->ndm_ifindex = place->ifindex;
	body->ndm_flags = NTF_PROXY | NTF_ROUTER;
	body->ndm_state = NUD_PERMANENT;
	mnl_attr_put(message, NDA_DST, 16, address->bytes);
	if (bind)
		mnl_attr_put_u8(message, NDA_PROTOCOL, MARK);
	return NLMSG_ALIGN(message->nlmsg_len);
}

/* The route is added before the neighbour and removed after it, so that every packet that is sent here is accepted. */
size_t proxied_put(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq)
{
	size_t len = (bind ? put_route : put_neighbour)(at, place, address, bind, seq);
	return len + (bind ? put_neighbour : put_route)(at + len, place, address, bind, seq);
}

int proxied_dump(const struct place *place, uint16_t type, void (*message)(const struct nlmsghdr *message, void *arg), void *arg)
{
	_Alignas(struct nlmsghdr) uint8_t space[128];
	struct nlmsghdr *request = mnl_nlmsg_put_header(space);

	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (type == RTM_GETROUTE) {
		struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof(*body));
		body->rtm_family = AF_INET6;
		body->rtm_table = RT_TABLE_LOCAL;
		body->rtm_protocol = MARK;
		body->rtm_type = RTN_LOCAL;
		mnl_attr_put_u32(request, RTA_OIF, (uint32_t)place->ifindex);
	} else {
		struct ndmsg *body = mnl_nlmsg_put_extra_header(request, sizeof(*body));
		body->ndm_family = AF_INET6;
		body->ndm_flags = NTF_PROXY;
		mnl_attr_put_u32(request, NDA_IFINDEX, (uint32_t)place->ifindex);
	}
	return netlink_ask(place->route_fd, request, request->nlmsg_len, message, arg);
}

static bool read_route(const struct place *place, const struct nlmsghdr *message, const struct nlattr **to)
{
	const struct rtmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	uint32_t ifindex = 0;

	if (body->rtm_family != AF_INET6 || body->rtm_dst_len != 128 || body->rtm_protocol != MARK || body->rtm_type != RTN_LOCAL)
		return false;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		if (mnl_attr_get_type(attr) == RTA_DST)
			*to = attr;
		if (mnl_attr_get_type(attr) == RTA_OIF)
			ifindex = mnl_attr_get_u32(attr);
	}
	return ifindex == (uint32_t)place->ifindex;
}

static bool read_neighbour(const struct place *place, const struct nlmsghdr *message, const struct nlattr **to)
{
	const struct ndmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	bool marked = false;

	if (body->ndm_family != AF_INET6 || !(body->ndm_flags & NTF_PROXY) || body->ndm_ifindex != place->ifindex)
		return false;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		if (mnl_attr_get_type(attr) == NDA_DST)
			*to = attr;
		if (mnl_attr_get_type(attr) == NDA_PROTOCOL)
			marked = mnl_attr_get_u8(attr) == MARK;
	}
	return marked;
}

bool proxied_read(const struct place *place, const struct nlmsghdr *message, struct address *out)
{
	const struct nlattr *to = NULL;
	bool ours = (message->nlmsg_type == RTM_NEWROUTE && read_route(place, message, &to)) ||
		    (message->nlmsg_type == RTM_NEWNEIGH && read_neighbour(place, message, &to));

	if (!ours || to == NULL || mnl_attr_get_payload_len(to) != 16)
		return false;
	out->family = AF_INET6;
	memcpy(out->bytes, mnl_attr_get_payload(to), 16);
	return true;
}
