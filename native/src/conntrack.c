/* conntrack-delete: forgets the flows of one service, or of some of its members alone. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "request.h"

#define DELETES_PER_SEND 256
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
	const struct wanted *wanted;
	enum side side;
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
 * Kernels from 5.8 on dump only what matches; what older ones send too much is left out by `gather`. By a single member
 * too: a service may have a hundred thousand flows to others.
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

static bool matches(const struct wanted *wanted, const struct nlattr *tuple)
{
	bool v4 = wanted->destination.family == AF_INET;
	const struct nlattr *ip = attr_in(attr_in(tuple, CTA_TUPLE_IP), v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST);
	const struct nlattr *proto = attr_in(tuple, CTA_TUPLE_PROTO);
	const struct nlattr *number = attr_in(proto, CTA_PROTO_NUM), *port = attr_in(proto, CTA_PROTO_DST_PORT);
	uint8_t len = address_len(wanted->destination.family);

	return ip != NULL && number != NULL && port != NULL && mnl_attr_get_payload_len(ip) == len &&
	       memcmp(mnl_attr_get_payload(ip), wanted->destination.bytes, len) == 0 &&
	       mnl_attr_get_u8(number) == wanted->protocol && mnl_attr_get_u16(port) == wanted->port;
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

static void gather(const struct nlmsghdr *message, void *arg)
{
	struct dump *dump = arg;
	const struct wanted *wanted = dump->wanted;
	const struct nlattr *attr, *tuple = NULL, *other = NULL, *info = NULL;
	struct nlmsghdr *delete;

	if (netlink_refused(message, &dump->refusal) || message->nlmsg_type != TYPE(IPCTNL_MSG_CT_NEW))
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		uint16_t type = mnl_attr_get_type(attr);
		if (type == SIDES[dump->side].tuple)
			tuple = attr;
		else if (type == SIDES[dump->side].other)
			other = attr;
		else if (type == CTA_PROTOINFO)
			info = attr;
	}
	if (tuple == NULL || !matches(wanted, tuple) || (wanted->only_members && !is_members(wanted, other)) ||
	    (wanted->unestablished && !is_unestablished(info)))
		return;
	delete = begin(buf_reserve(&dump->deletes, 512), IPCTNL_MSG_CT_DELETE, 0, wanted->destination.family);
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
		err = netlink_send(fd, dump->deletes.data + start, at - start);
		if (err == 0)
			err = netlink_receive(fd, count_gone, &deleted);
		if (err != 0) {
			fail_errno(request, err, "deleting flows");
			return -1;
		}
	}
	request->helper->netlink_messages += dump->count;
	return deleted;
}

/* Members of the other family have no flows to this destination. */
static bool read_members(struct request *request, struct wanted *out)
{
	const struct json *member;

	if (!field_list(request, request->fields, "members", &member))
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

static bool read_wanted(struct request *request, struct wanted *out)
{
	static const struct {
		const char *name;
		uint8_t number;
	} PROTOCOLS[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}};
	const char *protocol;
	int64_t port;

	if (!field_text(request, request->fields, "protocol", &protocol) ||
	    !field_address(request, request->fields, "destination", &out->destination) ||
	    !field_number(request, request->fields, "port", 1, 65535, &port) ||
	    !field_flag(request, request->fields, "unestablished", &out->unestablished))
		return false;
	out->port = htons((uint16_t)port);
	out->only_members = json_member(request->fields, "members") != NULL;
	if (out->only_members && !read_members(request, out))
		return false;
	for (size_t i = 0; i < sizeof(PROTOCOLS) / sizeof(*PROTOCOLS); i++)
		if (strcmp(PROTOCOLS[i].name, protocol) == 0) {
			out->protocol = PROTOCOLS[i].number;
			return true;
		}
	return fail(request, "protocol is not tcp, udp or sctp");
}

/* Flows of one side deleted; -1 with the failure said. */
static int64_t delete_side(struct request *request, int fd, const struct wanted *wanted, enum side side)
{
	_Alignas(struct nlmsghdr) char space[512];
	struct dump dump = {.wanted = wanted, .side = side};
	struct nlmsghdr *message = begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, wanted->destination.family);
	int64_t deleted = -1;
	int err;

	put_filter(message, wanted, side);
	err = netlink_send(fd, message, message->nlmsg_len);
	if (err == 0)
		err = netlink_receive(fd, gather, &dump);
	if (err == 0)
		err = dump.refusal.err;
	if (err != 0)
		fail_errno(request, err, "listing flows");
	else
		deleted = delete_gathered(request, fd, &dump);
	buf_reset(&dump.deletes, 0);
	return deleted;
}

bool op_conntrack_delete(struct request *request)
{
	struct wanted wanted = {0};
	struct netns *netns;
	int64_t deleted = -1, more = 0;
	int fd;

	if (!request_netns(request, &netns))
		return false;
	if (read_wanted(request, &wanted)) {
		fd = netns_netfilter(netns);
		if (fd < 0)
			fail_errno(request, errno, "netlink socket");
		else
			deleted = delete_side(request, fd, &wanted, ORIGINAL);
		if (deleted >= 0)
			more = delete_side(request, fd, &wanted, REPLY);
	}
	buf_reset(&wanted.members, 0);
	if (deleted < 0 || more < 0)
		return false;
	reply_begin(&request->helper->out, request->id);
	reply_number(&request->helper->out, "deleted", deleted + more);
	reply_end(&request->helper->out);
	return true;
}
