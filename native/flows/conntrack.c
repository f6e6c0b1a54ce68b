#include "conntrack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <string.h>

#include "../net/ctnetlink.h"
#include "../net/netlink.h"

#define MESSAGE_SPACE 1024
#define TRANSLATED (IPS_SRC_NAT | IPS_DST_NAT)

const int CONNTRACK_GROUPS[] = {NFNLGRP_CONNTRACK_NEW, NFNLGRP_CONNTRACK_UPDATE, NFNLGRP_CONNTRACK_DESTROY};
const size_t CONNTRACK_GROUP_COUNT = sizeof(CONNTRACK_GROUPS) / sizeof(*CONNTRACK_GROUPS);

static uint32_t number_of(const struct nlattr *attr)
{
	uint32_t number = 0;

	netlink_attr_copy(attr, &number, sizeof(number));
	return ntohl(number);
}

static bool is_replicated(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

enum entry_kind conntrack_read(const struct nlmsghdr *message, struct entry *out)
{
	const struct nfgenmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attrs[CTA_MAX + 1];
	uint8_t protocol;

	*out = (struct entry){0};
	if ((message->nlmsg_type != CT_TYPE(IPCTNL_MSG_CT_NEW) && message->nlmsg_type != CT_TYPE(IPCTNL_MSG_CT_DELETE)) ||
	    message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)) || (body->nfgen_family != AF_INET && body->nfgen_family != AF_INET6))
		return ENTRY_NONE;
	ct_attrs(message, attrs);
	out->record.family = body->nfgen_family;
	if (!ct_read_tuple(attrs[CTA_TUPLE_ORIG], body->nfgen_family, &out->record.original, &out->record.protocol) ||
	    !ct_read_tuple(attrs[CTA_TUPLE_REPLY], body->nfgen_family, &out->record.reply, &protocol) ||
	    !is_replicated(out->record.protocol) || !is_replicated(protocol))
		return ENTRY_NONE;
	netlink_attr_copy(attrs[CTA_ID], &out->ct_id, sizeof(out->ct_id));
	if (message->nlmsg_type == CT_TYPE(IPCTNL_MSG_CT_DELETE))
		return ENTRY_DESTROYED;
	if ((number_of(attrs[CTA_STATUS]) & TRANSLATED) != TRANSLATED)
		return ENTRY_NONE;
	out->replied = (number_of(attrs[CTA_STATUS]) & IPS_SEEN_REPLY) != 0;
	out->record.mark = number_of(attrs[CTA_MARK]);
	ct_read_tcp_state(attrs[CTA_PROTOINFO], &out->record.tcp_state);
	out->expires_us = now_us() + number_of(attrs[CTA_TIMEOUT]) * US_PER_S;
	return ENTRY_LIVE;
}

static struct nlmsghdr *begin(struct domain *domain, void *space, uint16_t type, uint16_t flags, int family)
{
	struct nlmsghdr *message = ct_begin(space, type, flags, family);

	message->nlmsg_seq = ++domain->seq;
	return message;
}

static void put_tuple(struct nlmsghdr *message, uint16_t type, const struct flow_record *record, const struct end *src,
		      const struct end *dst)
{
	ct_put_tuple(message, type, record->family, record->protocol, src, dst);
}

static void put_translation(struct nlmsghdr *message, uint16_t type, const struct flow_record *record, const struct end *to)
{
	bool v4 = record->family == AF_INET;
	struct nlattr *translation = mnl_attr_nest_start(message, type), *part;

	mnl_attr_put(message, v4 ? CTA_NAT_V4_MINIP : CTA_NAT_V6_MINIP, address_len(record->family), to->bytes);
	part = mnl_attr_nest_start(message, CTA_NAT_PROTO);
	mnl_attr_put_u16(message, CTA_PROTONAT_PORT_MIN, to->port);
	mnl_attr_put_u16(message, CTA_PROTONAT_PORT_MAX, to->port);
	mnl_attr_nest_end(message, part);
	mnl_attr_nest_end(message, translation);
}

/* TCP windows are not replicated: with be_liberal the kernel accepts any, and learns them from the packets. */
static void put_state(struct nlmsghdr *message, const struct flow_record *record, uint32_t timeout_s)
{
	const struct nf_ct_tcp_flags liberal = {.flags = IP_CT_TCP_FLAG_BE_LIBERAL, .mask = IP_CT_TCP_FLAG_BE_LIBERAL};
	struct nlattr *info, *tcp;

	mnl_attr_put_u32(message, CTA_STATUS, htonl(IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED));
	mnl_attr_put_u32(message, CTA_TIMEOUT, htonl(timeout_s));
	mnl_attr_put_u32(message, CTA_MARK, htonl(record->mark));
	if (record->protocol != IPPROTO_TCP)
		return;
	info = mnl_attr_nest_start(message, CTA_PROTOINFO);
	tcp = mnl_attr_nest_start(message, CTA_PROTOINFO_TCP);
	mnl_attr_put_u8(message, CTA_PROTOINFO_TCP_STATE, record->tcp_state);
	mnl_attr_put(message, CTA_PROTOINFO_TCP_FLAGS_ORIGINAL, sizeof(liberal), &liberal);
	mnl_attr_put(message, CTA_PROTOINFO_TCP_FLAGS_REPLY, sizeof(liberal), &liberal);
	mnl_attr_nest_end(message, tcp);
	mnl_attr_nest_end(message, info);
}

/* The kernel handles a request within sendto, so the answer is queued when it returns. */
static int request(struct domain *domain, struct nlmsghdr *message)
{
	_Alignas(struct nlmsghdr) char answer[8192];
	int err;

	message->nlmsg_flags |= NLM_F_ACK;
	err = netlink_send(domain->request_fd, message, message->nlmsg_len);
	while (err == 0) {
		ssize_t len = recv(domain->request_fd, answer, sizeof(answer), 0);
		const struct nlmsghdr *at = (const void *)answer;
		struct netlink_refusal refusal;
		int left = (int)len;
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno;
		for (; mnl_nlmsg_ok(at, left); at = mnl_nlmsg_next(at, &left))
			if (at->nlmsg_type == NLMSG_ERROR && at->nlmsg_seq == message->nlmsg_seq)
				return netlink_refused(at, &refusal) ? refusal.err : 0;
	}
	return err;
}

int conntrack_create(struct domain *domain, const struct flow_record *record, uint32_t timeout_s)
{
	_Alignas(struct nlmsghdr) char space[MESSAGE_SPACE];
	struct nlmsghdr *message = begin(domain, space, IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL, record->family);
	const struct tuple *original = &record->original;

	/* The tuples as before translation. The kernel derives the reply's from the NAT attributes. */
	put_tuple(message, CTA_TUPLE_ORIG, record, &original->src, &original->dst);
	put_tuple(message, CTA_TUPLE_REPLY, record, &original->dst, &original->src);
	put_translation(message, CTA_NAT_DST, record, &record->reply.src);
	put_translation(message, CTA_NAT_SRC, record, &record->reply.dst);
	put_state(message, record, timeout_s);
	return request(domain, message);
}

int conntrack_update(struct domain *domain, const struct flow_record *record, uint32_t timeout_s)
{
	_Alignas(struct nlmsghdr) char space[MESSAGE_SPACE];
	struct nlmsghdr *message = begin(domain, space, IPCTNL_MSG_CT_NEW, 0, record->family);

	put_tuple(message, CTA_TUPLE_ORIG, record, &record->original.src, &record->original.dst);
	put_state(message, record, timeout_s);
	return request(domain, message);
}

/* Leaves out all other attributes, so that the kernel keeps what it learnt. */
int conntrack_set_timeout(struct domain *domain, const struct flow_record *record, uint32_t timeout_s)
{
	_Alignas(struct nlmsghdr) char space[MESSAGE_SPACE];
	struct nlmsghdr *message = begin(domain, space, IPCTNL_MSG_CT_NEW, 0, record->family);

	put_tuple(message, CTA_TUPLE_ORIG, record, &record->original.src, &record->original.dst);
	mnl_attr_put_u32(message, CTA_TIMEOUT, htonl(timeout_s));
	return request(domain, message);
}

int conntrack_delete(struct domain *domain, const struct flow *flow)
{
	_Alignas(struct nlmsghdr) char space[MESSAGE_SPACE];
	const struct flow_record *record = &flow->record;
	struct nlmsghdr *message = begin(domain, space, IPCTNL_MSG_CT_DELETE, 0, record->family);

	put_tuple(message, CTA_TUPLE_ORIG, record, &record->original.src, &record->original.dst);
	/* With the id the kernel spares a newer flow that has the same tuple. */
	if (flow->ct_id != 0)
		mnl_attr_put_u32(message, CTA_ID, flow->ct_id);
	return request(domain, message);
}

int conntrack_dump(struct domain *domain)
{
	_Alignas(struct nlmsghdr) char space[MESSAGE_SPACE];
	struct nlmsghdr *message = begin(domain, space, IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC);

	/* Linux 5.15 and newer filter by status. For older ones `conntrack_read` does. */
	mnl_attr_put_u32(message, CTA_STATUS, htonl(TRANSLATED));
	mnl_attr_put_u32(message, CTA_STATUS_MASK, htonl(TRANSLATED));
	return netlink_send(domain->request_fd, message, message->nlmsg_len);
}
