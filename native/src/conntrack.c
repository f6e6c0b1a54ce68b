/* conntrack-delete: forgets the flows to one original destination. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>

#include "netlink.h"
#include "request.h"

#define DELETES_PER_SEND 256
#define TYPE(message) (NFNL_SUBSYS_CTNETLINK << 8 | (message))

/* Bits of CTA_FILTER_ORIG_FLAGS; the kernel has them in no public header. */
#define FILTER_IP_DST (1u << 1)
#define FILTER_PROTO_NUM (1u << 3)
#define FILTER_PROTO_DST_PORT (1u << 5)

struct wanted {
	struct address destination;
	uint8_t protocol;
	uint16_t port; /* network order */
};

struct dump {
	const struct wanted *wanted;
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

/* Kernels from 5.8 on dump only what matches; what older ones send too much is left out by `matches`. */
static void put_filter(struct nlmsghdr *message, const struct wanted *wanted)
{
	bool v4 = wanted->destination.family == AF_INET;
	struct nlattr *filter = mnl_attr_nest_start(message, CTA_FILTER), *tuple, *part;

	mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS, FILTER_IP_DST | FILTER_PROTO_NUM | FILTER_PROTO_DST_PORT);
	mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, 0);
	mnl_attr_nest_end(message, filter);
	tuple = mnl_attr_nest_start(message, CTA_TUPLE_ORIG);
	part = mnl_attr_nest_start(message, CTA_TUPLE_IP);
	mnl_attr_put(message, v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, address_len(wanted->destination.family),
		     wanted->destination.bytes);
	mnl_attr_nest_end(message, part);
	part = mnl_attr_nest_start(message, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(message, CTA_PROTO_NUM, wanted->protocol);
	mnl_attr_put_u16(message, CTA_PROTO_DST_PORT, wanted->port);
	mnl_attr_nest_end(message, part);
	mnl_attr_nest_end(message, tuple);
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

static void gather(const struct nlmsghdr *message, void *arg)
{
	struct dump *dump = arg;
	const struct nlattr *attr, *tuple = NULL;
	struct nlmsghdr *delete;

	if (netlink_refused(message, &dump->refusal) || message->nlmsg_type != TYPE(IPCTNL_MSG_CT_NEW))
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) == CTA_TUPLE_ORIG)
			tuple = attr;
	if (tuple == NULL || !matches(dump->wanted, tuple))
		return;
	delete = begin(buf_reserve(&dump->deletes, 512), IPCTNL_MSG_CT_DELETE, 0, dump->wanted->destination.family);
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
	    !field_number(request, request->fields, "port", 1, 65535, &port))
		return false;
	out->port = htons((uint16_t)port);
	for (size_t i = 0; i < sizeof(PROTOCOLS) / sizeof(*PROTOCOLS); i++)
		if (strcmp(PROTOCOLS[i].name, protocol) == 0) {
			out->protocol = PROTOCOLS[i].number;
			return true;
		}
	return fail(request, "protocol is not tcp, udp or sctp");
}

bool op_conntrack_delete(struct request *request)
{
	_Alignas(struct nlmsghdr) char space[512];
	struct wanted wanted = {0};
	struct dump dump = {.wanted = &wanted};
	struct nlmsghdr *message;
	struct netns *netns;
	int64_t deleted = -1;
	int fd, err;

	if (!request_netns(request, &netns) || !read_wanted(request, &wanted))
		return false;
	fd = netns_netfilter(netns);
	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	message = begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, wanted.destination.family);
	put_filter(message, &wanted);
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
	if (deleted < 0)
		return false;
	reply_begin(&request->helper->out, request->id);
	reply_number(&request->helper->out, "deleted", deleted);
	reply_end(&request->helper->out);
	return true;
}
