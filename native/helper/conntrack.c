/*
 * conntrack-delete: forgets the flows of services, or of some of their members alone.
 * conntrack-count: how many flows a namespace has.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdlib.h>
#include <string.h>

#include "../net/netlink.h"
#include "operations.h"
#include "request_target.h"

#define DELETES_PER_SEND 256
/* To be told of so many flows takes as long as to have the kernel look for those of one service; for more see below. */
#define FLOWS_OF_ONE 4000
#define TYPE(message) (NFNL_SUBSYS_CTNETLINK << 8 | (message))

/* Bits of CTA_FILTER_ORIG_FLAGS and CTA_FILTER_REPLY_FLAGS; the kernel has them in no public header. */
#define FILTER_IP_SRC (1u << 0)
#define FILTER_IP_DST (1u << 1)
#define FILTER_PROTO_NUM (1u << 3)
#define FILTER_PROTO_SRC_PORT (1u << 4)
#define FILTER_PROTO_DST_PORT (1u << 5)

struct endpoint {
	uint8_t bytes[16]; /* the address; what it does not fill is 0 */
	uint16_t port;	   /* network order */
};

/* A service whose flows go. */
struct wanted {
	struct address destination;
	uint8_t protocol;
	uint16_t port;	/* network order */
	bool unestablished; /* spare TCP connections that can carry something */
	bool only_members;
	struct buf members; /* endpoints in order: whose flows go */
};

/*
 * The direction that bears the service's address as its destination. A flow has it in its original direction, but in its
 * reply direction when a member's packet was the first that this machine saw of it.
 */
enum side { ORIGINAL, REPLY };

static const struct {
	uint16_t tuple, other;
} SIDES[] = {
	[ORIGINAL] = {CTA_TUPLE_ORIG, CTA_TUPLE_REPLY},
	[REPLY] = {CTA_TUPLE_REPLY, CTA_TUPLE_ORIG},
};

struct dump {
	const struct wanted *wanted; /* in order */
	size_t services;
	struct buf deletes;
	uint32_t count;
	struct netlink_refusal refusal;
};

static const struct nlattr *attr_in(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	if (nest != NULL)
		mnl_attr_for_each_nested(attr, nest)
			if (mnl_attr_get_type(attr) == type)
				return attr;
	return NULL;
}

static struct nlmsghdr *begin(void *space, uint16_t type, uint16_t flags, int family)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct nfgenmsg *body;

	message->nlmsg_type = TYPE(type);
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->nfgen_family = (uint8_t)family;
	return message;
}

/* One end of a tuple, as its source or its destination. */
static void put_end(struct nlmsghdr *message, uint16_t tuple, bool is_source, const struct wanted *wanted, const void *address,
		    uint16_t port)
{
	uint16_t v4 = is_source ? CTA_IP_V4_SRC : CTA_IP_V4_DST, v6 = is_source ? CTA_IP_V6_SRC : CTA_IP_V6_DST;
	struct nlattr *nest = mnl_attr_nest_start(message, tuple), *part;

	part = mnl_attr_nest_start(message, CTA_TUPLE_IP);
	mnl_attr_put(message, wanted->destination.family == AF_INET ? v4 : v6, address_len(wanted->destination.family), address);
	mnl_attr_nest_end(message, part);
	part = mnl_attr_nest_start(message, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(message, CTA_PROTO_NUM, wanted->protocol);
	mnl_attr_put_u16(message, is_source ? CTA_PROTO_SRC_PORT : CTA_PROTO_DST_PORT, port);
	mnl_attr_nest_end(message, part);
	mnl_attr_nest_end(message, nest);
}

/*
 * Kernels from 5.8 on dump only what matches this one service; what older ones send too much is left out by `gather`. By a
 * single member too: a service may have a hundred thousand flows to others.
 */
static void put_filter(struct nlmsghdr *message, const struct wanted *wanted, enum side side)
{
	const struct endpoint *one = wanted->members.len == sizeof(*one) ? (const void *)wanted->members.data : NULL;
	uint32_t service = FILTER_IP_DST | FILTER_PROTO_NUM | FILTER_PROTO_DST_PORT;
	uint32_t member = one == NULL ? 0 : FILTER_IP_SRC | FILTER_PROTO_NUM | FILTER_PROTO_SRC_PORT;
	struct nlattr *filter = mnl_attr_nest_start(message, CTA_FILTER);

	mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS, side == ORIGINAL ? service : member);
	mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, side == REPLY ? service : member);
	mnl_attr_nest_end(message, filter);
	put_end(message, SIDES[side].tuple, false, wanted, wanted->destination.bytes, wanted->port);
	if (one != NULL)
		put_end(message, SIDES[side].other, true, wanted, one->bytes, one->port);
}

static int compare_services(const void *a, const void *b)
{
	const struct wanted *one = a, *other = b;
	int order = one->destination.family - other->destination.family;

	if (order == 0)
		order = memcmp(one->destination.bytes, other->destination.bytes, address_len(one->destination.family));
	if (order == 0)
		order = one->protocol - other->protocol;
	return order != 0 ? order : one->port - other->port;
}

/* To which service a packet with this tuple is sent. */
static bool read_destination(const struct nlattr *tuple, struct wanted *out)
{
	const struct nlattr *addresses = attr_in(tuple, CTA_TUPLE_IP), *proto = attr_in(tuple, CTA_TUPLE_PROTO);
	const struct nlattr *v4 = attr_in(addresses, CTA_IP_V4_DST), *v6 = attr_in(addresses, CTA_IP_V6_DST);
	const struct nlattr *number = attr_in(proto, CTA_PROTO_NUM), *port = attr_in(proto, CTA_PROTO_DST_PORT);
	const struct nlattr *address = v4 != NULL ? v4 : v6;

	out->destination.family = v4 != NULL ? AF_INET : AF_INET6;
	if (address == NULL || number == NULL || port == NULL ||
	    mnl_attr_get_payload_len(address) != address_len(out->destination.family))
		return false;
	memcpy(out->destination.bytes, mnl_attr_get_payload(address), mnl_attr_get_payload_len(address));
	out->protocol = mnl_attr_get_u8(number);
	out->port = mnl_attr_get_u16(port);
	return true;
}

static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *one = a, *other = b;
	int order = memcmp(one->bytes, other->bytes, sizeof(one->bytes));

	return order != 0 ? order : (one->port > other->port) - (one->port < other->port);
}

/* Whether the tuple's source is one of the members: the direction that a member's packets have. */
static bool is_members(const struct wanted *wanted, const struct nlattr *tuple)
{
	bool v4 = wanted->destination.family == AF_INET;
	const struct nlattr *ip = attr_in(attr_in(tuple, CTA_TUPLE_IP), v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC);
	const struct nlattr *port = attr_in(attr_in(tuple, CTA_TUPLE_PROTO), CTA_PROTO_SRC_PORT);
	struct endpoint endpoint = {0};

	if (wanted->members.len == 0 || ip == NULL || port == NULL ||
	    mnl_attr_get_payload_len(ip) != address_len(wanted->destination.family))
		return false;
	memcpy(endpoint.bytes, mnl_attr_get_payload(ip), mnl_attr_get_payload_len(ip));
	endpoint.port = mnl_attr_get_u16(port);
	return bsearch(&endpoint, wanted->members.data, wanted->members.len / sizeof(endpoint), sizeof(endpoint),
		       compare_endpoints) != NULL;
}

/* Nothing more can pass over it, or nothing has yet. */
static bool is_unestablished(const struct nlattr *info)
{
	const struct nlattr *state = attr_in(attr_in(info, CTA_PROTOINFO_TCP), CTA_PROTOINFO_TCP_STATE);

	if (state == NULL)
		return false;
	switch (mnl_attr_get_u8(state)) {
	case TCP_CONNTRACK_SYN_SENT:
	case TCP_CONNTRACK_SYN_SENT2:
	case TCP_CONNTRACK_LAST_ACK:
	case TCP_CONNTRACK_TIME_WAIT:
	case TCP_CONNTRACK_CLOSE:
		return true;
	default:
		return false;
	}
}

static int family_of(const struct nlmsghdr *message)
{
	return ((const struct nfgenmsg *)mnl_nlmsg_get_payload(message))->nfgen_family;
}

/* @to: the tuple of its requests, @from: that of its members' answers. A service may be there twice, for members each. */
static bool is_wanted(const struct dump *dump, const struct nlattr *to, const struct nlattr *from, const struct nlattr *info)
{
	const struct wanted *end = dump->wanted + dump->services, *at;
	struct wanted key = {0};

	if (!read_destination(to, &key))
		return false;
	at = bsearch(&key, dump->wanted, dump->services, sizeof(key), compare_services);
	if (at == NULL)
		return false;
	while (at > dump->wanted && compare_services(at - 1, &key) == 0)
		at--;
	for (; at < end && compare_services(at, &key) == 0; at++)
		if ((!at->only_members || is_members(at, from)) && (!at->unestablished || is_unestablished(info)))
			return true;
	return false;
}

static void gather(const struct nlmsghdr *message, void *arg)
{
	struct dump *dump = arg;
	const struct nlattr *attr, *original = NULL, *reply = NULL, *info = NULL;
	struct nlmsghdr *delete;

	if (netlink_refused(message, &dump->refusal) || message->nlmsg_type != TYPE(IPCTNL_MSG_CT_NEW))
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		uint16_t type = mnl_attr_get_type(attr);
		if (type == CTA_TUPLE_ORIG)
			original = attr;
		else if (type == CTA_TUPLE_REPLY)
			reply = attr;
		else if (type == CTA_PROTOINFO)
			info = attr;
	}
	if (original == NULL || reply == NULL ||
	    (!is_wanted(dump, original, reply, info) && !is_wanted(dump, reply, original, info)))
		return;
	delete = begin(buf_reserve(&dump->deletes, 512), IPCTNL_MSG_CT_DELETE, 0, family_of(message));
	/* The id makes sure that a younger flow with the same tuple is not the one that goes. */
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		uint16_t type = mnl_attr_get_type(attr);
		if (type == CTA_TUPLE_ORIG || type == CTA_ID || type == CTA_ZONE)
			mnl_attr_put(delete, attr->nla_type, mnl_attr_get_payload_len(attr), mnl_attr_get_payload(attr));
	}
	dump->deletes.len += NLMSG_ALIGN(delete->nlmsg_len);
	dump->count++;
}

/* A flow that ended by itself meanwhile answers ENOENT. */
static void count_gone(const struct nlmsghdr *message, void *arg)
{
	struct netlink_refusal refusal;

	if (netlink_refused(message, &refusal))
		--*(uint32_t *)arg;
}

/* Flows deleted; -1 with the failure said. */
static int64_t delete_gathered(struct request *request, int fd, const struct dump *dump)
{
	uint32_t deleted = dump->count;
	size_t at = 0;

	while (at < dump->deletes.len) {
		size_t start = at;
		int err;
		for (int i = 0; i < DELETES_PER_SEND && at < dump->deletes.len; i++)
			at += NLMSG_ALIGN(((const struct nlmsghdr *)(const void *)(dump->deletes.data + at))->nlmsg_len);
		err = netlink_ask(fd, dump->deletes.data + start, at - start, count_gone, &deleted);
		if (err != 0) {
			fail_errno(request, err, "deleting flows");
			return -1;
		}
	}
	request->helper->netlink_messages += dump->count;
	return deleted;
}

/* Members of the other family have no flows to this destination. */
static bool read_members(struct request *request, const struct json *service, struct wanted *out)
{
	const struct json *member;

	if (!field_list(request, service, "members", &member))
		return false;
	for (; member != NULL; member = member->next) {
		struct endpoint endpoint = {0};
		struct address address;
		int64_t port;

		if (!field_address(request, member, "address", &address) ||
		    !field_number(request, member, "port", 1, 65535, &port))
			return false;
		if (address.family != out->destination.family)
			continue;
		memcpy(endpoint.bytes, address.bytes, address_len(address.family));
		endpoint.port = htons((uint16_t)port);
		buf_put(&out->members, &endpoint, sizeof(endpoint));
	}
	if (out->members.len > 0)
		qsort(out->members.data, out->members.len / sizeof(struct endpoint), sizeof(struct endpoint), compare_endpoints);
	return true;
}

static bool read_service(struct request *request, const struct json *service, struct wanted *out)
{
	static const struct {
		const char *name;
		uint8_t number;
	} PROTOCOLS[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}};
	const char *protocol;
	int64_t port;

	if (!field_text(request, service, "protocol", &protocol) ||
	    !field_address(request, service, "destination", &out->destination) ||
	    !field_number(request, service, "port", 1, 65535, &port) ||
	    !field_flag(request, service, "unestablished", &out->unestablished))
		return false;
	out->port = htons((uint16_t)port);
	out->only_members = json_member(service, "members") != NULL;
	if (out->only_members && !read_members(request, service, out))
		return false;
	for (size_t i = 0; i < sizeof(PROTOCOLS) / sizeof(*PROTOCOLS); i++)
		if (strcmp(PROTOCOLS[i].name, protocol) == 0) {
			out->protocol = PROTOCOLS[i].number;
			return true;
		}
	return fail(request, "protocol is not tcp, udp or sctp");
}

/* In order. */
static bool read_services(struct request *request, struct buf *out)
{
	const struct json *service;

	if (!field_list(request, request->fields, "services", &service))
		return false;
	for (; service != NULL; service = service->next) {
		struct wanted wanted = {0};
		bool is_right = read_service(request, service, &wanted);
		buf_put(out, &wanted, sizeof(wanted));
		if (!is_right)
			return false;
	}
	if (out->len > 0)
		qsort(out->data, out->len / sizeof(struct wanted), sizeof(struct wanted), compare_services);
	return true;
}

/* Flows deleted of those that the kernel dumps; -1 with the failure said. */
static int64_t delete_dumped(struct request *request, int fd, struct dump dump, const struct nlmsghdr *message)
{
	int64_t deleted = -1;
	int err = netlink_ask(fd, message, message->nlmsg_len, gather, &dump);

	if (err == 0)
		err = dump.refusal.err;
	if (err != 0)
		fail_errno(request, err, "listing flows");
	else
		deleted = delete_gathered(request, fd, &dump);
	buf_reset(&dump.deletes, 0);
	return deleted;
}

struct table_use {
	uint32_t flows; /* of the namespace */
	uint32_t most;	/* that a namespace may have */
	struct netlink_refusal refusal;
};

static void read_use(const struct nlmsghdr *message, void *arg)
{
	struct table_use *use = arg;
	const struct nlattr *attr;

	if (netlink_refused(message, &use->refusal) || message->nlmsg_type != TYPE(IPCTNL_MSG_CT_GET_STATS))
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		uint16_t type = mnl_attr_get_type(attr);
		if (type == CTA_STATS_GLOBAL_ENTRIES)
			use->flows = ntohl(mnl_attr_get_u32(attr));
		else if (type == CTA_STATS_GLOBAL_MAX_ENTRIES)
			use->most = ntohl(mnl_attr_get_u32(attr));
	}
}

/* 0 or errno. */
static int read_table_use(int fd, struct table_use *use)
{
	_Alignas(struct nlmsghdr) char space[512];
	struct nlmsghdr *message = begin(space, IPCTNL_MSG_CT_GET_STATS, 0, AF_UNSPEC);
	int err = netlink_ask(fd, message, message->nlmsg_len, read_use, use);

	return err != 0 ? err : use->refusal.err;
}

/* How many flows the namespace has; when the kernel does not say, more than anybody wants to be told of. */
static uint32_t count_flows(int fd)
{
	struct table_use use = {.flows = UINT32_MAX};

	read_table_use(fd, &use);
	return use.flows;
}

bool op_conntrack_count(struct request *request)
{
	struct buf *out = &request->helper->out;
	struct table_use use = {0};
	struct netns *netns;
	int fd, err;

	if (!request_netns(request, &netns))
		return false;
	fd = netns_netfilter(netns);
	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	err = read_table_use(fd, &use);
	if (err != 0)
		return fail_errno(request, err, "counting flows");
	reply_begin(out, request->id);
	reply_number(out, "flows", use.flows);
	reply_number(out, "most", use.most);
	reply_end(out);
	return true;
}

/*
 * For a dump the kernel walks over the flows of all namespaces, which takes as long when there are none. It can look for
 * those of one service, a walk for each side, at which it looks at every flow of the namespace; or it walks once, and tells
 * them all, which takes six times as long for each. Where both take the same, the flows grow about as the square of services.
 */
static int64_t delete_flows(struct request *request, int fd, const struct dump *dump)
{
	_Alignas(struct nlmsghdr) char space[512];
	int64_t deleted = 0, more;

	if (dump->services == 0)
		return 0;
	if (count_flows(fd) / FLOWS_OF_ONE < dump->services * dump->services)
		return delete_dumped(request, fd, *dump, begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC));
	for (const struct wanted *one = dump->wanted; one < dump->wanted + dump->services; one++)
		for (enum side side = ORIGINAL; side <= REPLY; side++) {
			const struct dump alone = {.wanted = one, .services = 1};
			struct nlmsghdr *message = begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, one->destination.family);
			put_filter(message, one, side);
			more = delete_dumped(request, fd, alone, message);
			if (more < 0)
				return more;
			deleted += more;
		}
	return deleted;
}

bool op_conntrack_delete(struct request *request)
{
	struct buf services = {0};
	struct netns *netns;
	int64_t deleted = -1;
	struct dump dump;
	int fd;

	if (!request_netns(request, &netns))
		return false;
	if (read_services(request, &services)) {
		fd = netns_netfilter(netns);
		dump = (struct dump){.wanted = (const void *)services.data, .services = services.len / sizeof(struct wanted)};
		if (fd < 0)
			fail_errno(request, errno, "netlink socket");
		else
			deleted = delete_flows(request, fd, &dump);
	}
	for (size_t at = 0; at < services.len; at += sizeof(struct wanted))
		buf_reset(&((struct wanted *)(void *)(services.data + at))->members, 0);
	buf_reset(&services, 0);
	if (deleted < 0)
		return false;
	reply_begin(&request->helper->out, request->id);
	reply_number(&request->helper->out, "deleted", deleted);
	reply_end(&request->helper->out);
	return true;
}
