/*
 * conntrack-delete: deletes the flows of services, or of some of their members.
 * conntrack-count: counts the flows of a namespace.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/ctnetlink.h"
#include "../../net/netlink.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

#define DELETES_PER_SEND 256
/* Reading this many flows takes as long as one filtered dump (see `delete_flows`). */
#define FLOWS_OF_ONE 4000

/* Bits of CTA_FILTER_ORIG_FLAGS and CTA_FILTER_REPLY_FLAGS; the kernel has them in no public header. */
#define FILTER_IP_SRC (1u << 0)
#define FILTER_IP_DST (1u << 1)
#define FILTER_PROTO_NUM (1u << 3)
#define FILTER_PROTO_SRC_PORT (1u << 4)
#define FILTER_PROTO_DST_PORT (1u << 5)

/* A service whose flows are deleted. */
struct service {
	int family;
	uint8_t protocol;
	struct end destination;
	bool unestablished; /* spare TCP connections that can carry something */
	bool only_members;
	struct buf members; /* sorted ends: only their flows are deleted */
};

/*
 * The direction whose destination is the service. This is the original direction, but the reply direction when a member's
 * packet was the first that this node saw.
 */
enum side { ORIGINAL, REPLY };

static const struct {
	uint16_t tuple, other;
} SIDES[] = {
	[ORIGINAL] = {CTA_TUPLE_ORIG, CTA_TUPLE_REPLY},
	[REPLY] = {CTA_TUPLE_REPLY, CTA_TUPLE_ORIG},
};

struct dump {
	const struct service *services; /* in order */
	size_t service_count;
	struct buf deletes;
	uint32_t count;
	struct netlink_refusal refusal;
};

/*
 * Linux 5.8 and newer dump only flows that match this service; for older ones `gather` filters. A single member is part of
 * the filter too, since the service may have a hundred thousand flows to others.
 */
static void put_filter(struct nlmsghdr *message, const struct service *service, enum side side)
{
	const struct end *one = service->members.len == sizeof(*one) ? (const void *)service->members.data : NULL;
	uint32_t service_flags = FILTER_IP_DST | FILTER_PROTO_NUM | FILTER_PROTO_DST_PORT;
	uint32_t member_flags = one == NULL ? 0 : FILTER_IP_SRC | FILTER_PROTO_NUM | FILTER_PROTO_SRC_PORT;
	struct nlattr *filter = mnl_attr_nest_start(message, CTA_FILTER);

	mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS, side == ORIGINAL ? service_flags : member_flags);
	mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, side == REPLY ? service_flags : member_flags);
	mnl_attr_nest_end(message, filter);
	ct_put_tuple(message, SIDES[side].tuple, service->family, service->protocol, NULL, &service->destination);
	if (one != NULL)
		ct_put_tuple(message, SIDES[side].other, service->family, service->protocol, one, NULL);
}

static int compare_ends(const void *a, const void *b)
{
	const struct end *one = a, *other = b;
	int order = memcmp(one->bytes, other->bytes, sizeof(one->bytes));

	return order != 0 ? order : (one->port > other->port) - (one->port < other->port);
}

static int compare_services(const void *a, const void *b)
{
	const struct service *one = a, *other = b;
	int order = one->family - other->family;

	if (order == 0)
		order = one->protocol - other->protocol;
	return order != 0 ? order : compare_ends(&one->destination, &other->destination);
}

static bool is_member(const struct service *service, const struct end *end)
{
	return service->members.len > 0 &&
	       bsearch(end, service->members.data, service->members.len / sizeof(*end), sizeof(*end), compare_ends) != NULL;
}

/* The connection is closed, or not open yet. */
static bool is_unestablished(const struct nlattr *info)
{
	uint8_t state;

	if (!ct_read_tcp_state(info, &state))
		return false;
	switch (state) {
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

/*
 * Whether a flow is deleted. `sent` is the direction of its requests, `answered` that of its member's packets. A service may
 * be listed twice, each time with other members.
 */
static bool is_wanted(const struct dump *dump, int family, uint8_t protocol, const struct tuple *sent,
		      const struct tuple *answered, const struct nlattr *info)
{
	const struct service key = {.family = family, .protocol = protocol, .destination = sent->dst};
	const struct service *end = dump->services + dump->service_count;
	const struct service *at = bsearch(&key, dump->services, dump->service_count, sizeof(key), compare_services);

	if (at == NULL)
		return false;
	while (at > dump->services && compare_services(at - 1, &key) == 0)
		at--;
	for (; at < end && compare_services(at, &key) == 0; at++)
		if ((!at->only_members || is_member(at, &answered->src)) && (!at->unestablished || is_unestablished(info)))
			return true;
	return false;
}

static void gather(const struct nlmsghdr *message, void *arg)
{
	/* With the id the kernel spares a newer flow that has the same tuple. */
	static const uint16_t NAMES[] = {CTA_TUPLE_ORIG, CTA_ID, CTA_ZONE};
	struct dump *dump = arg;
	const struct nlattr *attrs[CTA_MAX + 1];
	struct tuple original, reply;
	struct nlmsghdr *delete;
	uint8_t protocol;
	int family;

	if (netlink_refused(message, &dump->refusal) || message->nlmsg_type != CT_TYPE(IPCTNL_MSG_CT_NEW))
		return;
	ct_attrs(message, attrs);
	family = ct_family(message);
	if (!ct_read_tuple(attrs[CTA_TUPLE_REPLY], family, &reply, &protocol) ||
	    !ct_read_tuple(attrs[CTA_TUPLE_ORIG], family, &original, &protocol) ||
	    (!is_wanted(dump, family, protocol, &original, &reply, attrs[CTA_PROTOINFO]) &&
	     !is_wanted(dump, family, protocol, &reply, &original, attrs[CTA_PROTOINFO])))
		return;
	delete = ct_begin(buf_reserve(&dump->deletes, 512), IPCTNL_MSG_CT_DELETE, 0, family);
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		const struct nlattr *attr = attrs[NAMES[i]];
		if (attr != NULL)
			mnl_attr_put(delete, attr->nla_type, mnl_attr_get_payload_len(attr), mnl_attr_get_payload(attr));
	}
	dump->deletes.len += NLMSG_ALIGN(delete->nlmsg_len);
	dump->count++;
}

/* The kernel answers ENOENT for a flow that ended meanwhile. */
static void count_gone(const struct nlmsghdr *message, void *arg)
{
	struct netlink_refusal refusal;

	if (netlink_refused(message, &refusal))
		--*(uint32_t *)arg;
}

/* Returns the number of flows deleted; -1 with the failure written. */
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
static bool read_members(struct request *request, const struct json *service, struct service *out)
{
	const struct json *member;

	if (!field_list(request, service, "members", &member))
		return false;
	for (; member != NULL; member = member->next) {
		struct end member_end = {0};
		struct address address;
		int64_t port;

		if (!field_address(request, member, "address", &address) ||
		    !field_number(request, member, "port", 1, 65535, &port))
			return false;
		if (address.family != out->family)
			continue;
		memcpy(member_end.bytes, address.bytes, address_len(address.family));
		member_end.port = htons((uint16_t)port);
		buf_put(&out->members, &member_end, sizeof(member_end));
	}
	if (out->members.len > 0)
		qsort(out->members.data, out->members.len / sizeof(struct end), sizeof(struct end), compare_ends);
	return true;
}

static bool read_service(struct request *request, const struct json *service, struct service *out)
{
	static const struct {
		const char *name;
		uint8_t number;
	} PROTOCOLS[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}};
	const char *protocol;
	struct address address;
	int64_t port;

	if (!field_text(request, service, "protocol", &protocol) ||
	    !field_address(request, service, "destination", &address) ||
	    !field_number(request, service, "port", 1, 65535, &port) ||
	    !field_flag(request, service, "unestablished", &out->unestablished))
		return false;
	out->family = address.family;
	memcpy(out->destination.bytes, address.bytes, address_len(address.family));
	out->destination.port = htons((uint16_t)port);
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

/* Reads the services, sorted. */
static bool read_services(struct request *request, struct buf *out)
{
	const struct json *service;

	if (!field_list(request, request->fields, "services", &service))
		return false;
	for (; service != NULL; service = service->next) {
		struct service read = {0};
		bool is_right = read_service(request, service, &read);
		buf_put(out, &read, sizeof(read));
		if (!is_right)
			return false;
	}
	if (out->len > 0)
		qsort(out->data, out->len / sizeof(struct service), sizeof(struct service), compare_services);
	return true;
}

/* Deletes flows among those that the kernel dumps. Returns how many; -1 with the failure written. */
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

	if (netlink_refused(message, &use->refusal) || message->nlmsg_type != CT_TYPE(IPCTNL_MSG_CT_GET_STATS))
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
	struct nlmsghdr *message = ct_begin(space, IPCTNL_MSG_CT_GET_STATS, 0, AF_UNSPEC);
	int err = netlink_ask(fd, message, message->nlmsg_len, read_use, use);

	return err != 0 ? err : use->refusal.err;
}

/* The number of flows of the namespace; the largest number when the kernel does not tell. */
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
 * For a dump the kernel walks the table of all namespaces, which takes its time even when it is empty. There are two ways:
 * two filtered dumps for each service, which test every flow of the namespace; or one dump of all flows, which costs six
 * times as much for each flow. The number of flows where both cost the same grows about as the square of the services.
 */
static int64_t delete_flows(struct request *request, int fd, const struct dump *dump)
{
	_Alignas(struct nlmsghdr) char space[512];
	int64_t deleted = 0, more;

	if (dump->service_count == 0)
		return 0;
	if (count_flows(fd) / FLOWS_OF_ONE < dump->service_count * dump->service_count)
		return delete_dumped(request, fd, *dump, ct_begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC));
	for (const struct service *one = dump->services; one < dump->services + dump->service_count; one++)
		for (enum side side = ORIGINAL; side <= REPLY; side++) {
			const struct dump alone = {.services = one, .service_count = 1};
			struct nlmsghdr *message = ct_begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, one->family);
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
		dump = (struct dump){.services = (const void *)services.data, .service_count = services.len / sizeof(struct service)};
		if (fd < 0)
			fail_errno(request, errno, "netlink socket");
		else
			deleted = delete_flows(request, fd, &dump);
	}
	for (size_t at = 0; at < services.len; at += sizeof(struct service))
		buf_reset(&((struct service *)(void *)(services.data + at))->members, 0);
	buf_reset(&services, 0);
	if (deleted < 0)
		return false;
	reply_begin(&request->helper->out, request->id);
	reply_number(&request->helper->out, "deleted", deleted);
	reply_end(&request->helper->out);
	return true;
}
