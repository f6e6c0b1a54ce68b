#include "ctnetlink.h"

#include <string.h>

#include "address.h"
#include "netlink.h"

struct nlmsghdr *ct_begin(void *space, uint16_t type, uint16_t flags, int family)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct nfgenmsg *body;

	message->nlmsg_type = CT_TYPE(type);
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->nfgen_family = (uint8_t)family;
	return message;
}

int ct_family(const struct nlmsghdr *message)
{
	return ((const struct nfgenmsg *)mnl_nlmsg_get_payload(message))->nfgen_family;
}

void ct_put_tuple(struct nlmsghdr *message, uint16_t type, int family, uint8_t protocol, const struct end *src, const struct end *dst)
{
	bool v4 = family == AF_INET;
	uint8_t len = address_len(family);
	struct nlattr *tuple = mnl_attr_nest_start(message, type), *part;

	part = mnl_attr_nest_start(message, CTA_TUPLE_IP);
	if (src != NULL)
		mnl_attr_put(message, v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, len, src->bytes);
	if (dst != NULL)
		mnl_attr_put(message, v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, len, dst->bytes);
	mnl_attr_nest_end(message, part);
	part = mnl_attr_nest_start(message, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(message, CTA_PROTO_NUM, protocol);
	if (src != NULL)
		mnl_attr_put_u16(message, CTA_PROTO_SRC_PORT, src->port);
	if (dst != NULL)
		mnl_attr_put_u16(message, CTA_PROTO_DST_PORT, dst->port);
	mnl_attr_nest_end(message, part);
	mnl_attr_nest_end(message, tuple);
}

void ct_attrs(const struct nlmsghdr *message, const struct nlattr **out)
{
	const struct nlattr *attr;

	memset(out, 0, (CTA_MAX + 1) * sizeof(*out));
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) <= CTA_MAX)
			out[mnl_attr_get_type(attr)] = attr;
}

bool ct_read_tuple(const struct nlattr *nest, int family, struct tuple *out, uint8_t *protocol)
{
	const struct nlattr *ip = netlink_attr_in(nest, CTA_TUPLE_IP), *proto = netlink_attr_in(nest, CTA_TUPLE_PROTO);
	bool v4 = family == AF_INET;
	uint8_t len = address_len(family);

	*out = (struct tuple){0};
	return netlink_attr_copy(netlink_attr_in(ip, v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC), out->src.bytes, len) &&
	       netlink_attr_copy(netlink_attr_in(ip, v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST), out->dst.bytes, len) &&
	       netlink_attr_copy(netlink_attr_in(proto, CTA_PROTO_NUM), protocol, 1) &&
	       netlink_attr_copy(netlink_attr_in(proto, CTA_PROTO_SRC_PORT), &out->src.port, 2) &&
	       netlink_attr_copy(netlink_attr_in(proto, CTA_PROTO_DST_PORT), &out->dst.port, 2);
}

bool ct_read_tcp_state(const struct nlattr *info, uint8_t *out)
{
	return netlink_attr_copy(netlink_attr_in(netlink_attr_in(info, CTA_PROTOINFO_TCP), CTA_PROTOINFO_TCP_STATE), out, 1);
}
