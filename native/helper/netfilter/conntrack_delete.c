/* conntrack-delete: deletes the flows of services, or of some of their members. */
#include <arpa/inet.h>
#include <errno.h>

#include "../../net/ctnetlink.h"
#include "../../net/netlink.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"
#include "conntrack_count.h"
#include "conntrack_services.h"

#define DELETES_PER_SEND 256
/* Reading this many flows takes as long as one filtered dump (see `delete_flows`). */
#define FLOWS_OF_ONE 4000

/* Bits of CTA_FILTER_ORIG_FLAGS and CTA_FILTER_REPLY_FLAGS; the kernel has them in no public header. */
#define FILTER_IP_SRC (1u << 0)
#define FILTER_IP_DST (1u << 1)
#define FILTER_PROTO_NUM (1u << 3)
#define FILTER_PROTO_SRC_PORT (1u << 4)
#define FILTER_PROTO_DST_PORT (1u << 5)

/*
 * The direction of a flow whose destination is the service. It is the original one, unless the first packet that this node saw
 * was a member's: then it is the reply direction.
 */
enum side { ORIGINAL, REPLY };

static const struct {
	uint16_t tuple, other;
} SIDES[] = {
	[ORIGINAL] = {CTA_TUPLE_ORIG, CTA_TUPLE_REPLY},
	[REPLY] = {CTA_TUPLE_REPLY, CTA_TUPLE_ORIG},
};

struct dump {
	const struct ct_service *services; /* in order */
	size_t service_count;
	struct buf deletes;
	uint32_t count;
	struct netlink_refusal refusal;
};

/*
 * Makes the kernel dump only flows of this service, which Linux 5.8 and newer do; for older ones `gather` filters. A single
 * member is part of the filter, too, since the service may have a hundred thousand flows to others.
 */
static void put_filter(struct nlmsghdr *message, const struct ct_service *service, enum side side)
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

static bool is_wanted(const struct dump *dump, int family, uint8_t protocol, const struct tuple *sent,
		      const struct tuple *answered, const struct nlattr *info)
{
	return services_match(dump->services, dump->service_count, family, protocol, sent, answered, info);
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

/*
 * Chooses the cheaper of two ways: two filtered dumps for each service, which test every flow of the namespace; or one dump
 * of all flows, which costs six times as much for each flow. Each dump has a fixed cost, too: the kernel walks the table of
 * all namespaces. The number of flows at which both ways cost the same grows about as the square of the number of services.
 */
static int64_t delete_flows(struct request *request, int fd, const struct dump *dump)
{
	_Alignas(struct nlmsghdr) char space[512];
	int64_t deleted = 0, more;

	if (dump->service_count == 0)
		return 0;
	if (conntrack_flows(fd) / FLOWS_OF_ONE < dump->service_count * dump->service_count)
		return delete_dumped(request, fd, *dump, ct_begin(space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC));
	for (const struct ct_service *one = dump->services; one < dump->services + dump->service_count; one++)
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
	if (services_read(request, &services)) {
		fd = netns_netfilter(netns);
		dump = (struct dump){.services = (const void *)services.data, .service_count = services.len / sizeof(struct ct_service)};
		if (fd < 0)
			fail_errno(request, errno, "netlink socket");
		else
			deleted = delete_flows(request, fd, &dump);
	}
	services_free(&services);
	if (deleted < 0)
		return false;
	reply_begin(&request->helper->out, request->id);
	reply_number(&request->helper->out, "deleted", deleted);
	reply_end(&request->helper->out);
	return true;
}
