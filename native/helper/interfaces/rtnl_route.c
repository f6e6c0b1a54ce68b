/* route, route-list. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"
#include "rtnl.h"

static const struct {
	const char *name;
	uint8_t number;
} TYPES[] = {{"unicast", RTN_UNICAST}, {"local", RTN_LOCAL}, {"blackhole", RTN_BLACKHOLE}};

#define TYPE_COUNT (sizeof(TYPES) / sizeof(*TYPES))

static bool read_type(struct request *request, const struct json *change, uint8_t *out)
{
	const char *name = "unicast";

	if (json_member(change, "type") != NULL && !field_text(request, change, "type", &name))
		return false;
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (strcmp(TYPES[i].name, name) == 0) {
			*out = TYPES[i].number;
			return true;
		}
	return fail(request, "type is not unicast, local or blackhole");
}

static const char *type_name(uint8_t number)
{
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (TYPES[i].number == number)
			return TYPES[i].name;
	return "other";
}

static bool put_next_hop(struct request *request, struct netns *netns, const struct json *change, int family,
			 struct nlmsghdr *message)
{
	struct address via;
	int ifindex;

	if (json_member(change, "via") != NULL) {
		if (!field_address(request, change, "via", &via))
			return false;
		if (via.family != family)
			return fail(request, "via is of another family than to");
		mnl_attr_put(message, RTA_GATEWAY, address_len(family), via.bytes);
	}
	if (json_member(change, "dev") != NULL) {
		if (!request_dev(request, netns, change, &ifindex))
			return false;
		mnl_attr_put_u32(message, RTA_OIF, (uint32_t)ifindex);
	}
	return true;
}

static bool write_change(struct request *request, struct netns *netns, const struct json *change, struct nlmsghdr *message)
{
	bool replacing, to_via = json_member(change, "via") != NULL;
	struct rtmsg *body;
	struct address to;
	int64_t table, metric;
	uint8_t prefix, type = RTN_UNICAST;

	if (!rtnl_verb(request, change, "replace", &replacing))
		return false;
	message->nlmsg_type = replacing ? RTM_NEWROUTE : RTM_DELROUTE;
	message->nlmsg_flags = NLM_F_REQUEST | (replacing ? NLM_F_CREATE | NLM_F_REPLACE : 0);
	if (!field_prefix(request, change, "to", &to, &prefix) ||
	    !field_number(request, change, "table", 1, UINT32_MAX, &table) || !read_type(request, change, &type))
		return false;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->rtm_family = (uint8_t)to.family;
	body->rtm_dst_len = prefix;
	body->rtm_table = table < 256 ? (uint8_t)table : RT_TABLE_UNSPEC;
	body->rtm_type = replacing ? type : RTN_UNSPEC;
	body->rtm_protocol = replacing ? RTPROT_STATIC : RTPROT_UNSPEC;
	if (!replacing)
		body->rtm_scope = RT_SCOPE_NOWHERE;
	else if (type == RTN_LOCAL)
		body->rtm_scope = RT_SCOPE_HOST;
	else if (type == RTN_UNICAST && !to_via)
		body->rtm_scope = RT_SCOPE_LINK;
	mnl_attr_put(message, RTA_DST, address_len(to.family), to.bytes);
	mnl_attr_put_u32(message, RTA_TABLE, (uint32_t)table);
	if (json_member(change, "metric") != NULL) {
		if (!field_number(request, change, "metric", 0, UINT32_MAX, &metric))
			return false;
		mnl_attr_put_u32(message, RTA_PRIORITY, (uint32_t)metric);
	}
	return put_next_hop(request, netns, change, to.family, message);
}

bool op_route(struct request *request)
{
	return rtnl_apply(request, write_change);
}

struct listing {
	struct buf *out;
	struct netns *netns;
	uint32_t table;
};

static void print_prefix(char *out, size_t size, const struct rtmsg *body, const struct nlattr *to)
{
	static const uint8_t ANY[16];
	char text[ADDRESS_TEXT];

	address_print(text, body->rtm_family, to == NULL ? ANY : mnl_attr_get_payload(to));
	snprintf(out, size, "%s/%u", text, body->rtm_dst_len);
}

static void list_route(const struct nlmsghdr *message, void *arg)
{
	struct listing *listing = arg;
	const struct rtmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *to = NULL, *via = NULL;
	char text[ADDRESS_TEXT + 4], dev[IFNAMSIZ] = "";
	uint32_t table = body->rtm_table, metric = 0;

	if (message->nlmsg_type != RTM_NEWROUTE || (body->rtm_family != AF_INET && body->rtm_family != AF_INET6))
		return;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		bool is_address = mnl_attr_get_payload_len(attr) == address_len(body->rtm_family);
		if (mnl_attr_get_type(attr) == RTA_DST && is_address)
			to = attr;
		if (mnl_attr_get_type(attr) == RTA_GATEWAY && is_address)
			via = attr;
		if (mnl_attr_get_type(attr) == RTA_TABLE)
			table = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == RTA_PRIORITY)
			metric = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == RTA_OIF)
			netns_ifname(listing->netns, (int)mnl_attr_get_u32(attr), dev);
	}
	if (table != listing->table)
		return;
	print_prefix(text, sizeof(text), body, to);
	reply_item(listing->out);
	reply_text(listing->out, "to", text);
	reply_text(listing->out, "via", via == NULL ? NULL : address_print(text, body->rtm_family, mnl_attr_get_payload(via)));
	reply_text(listing->out, "dev", dev[0] == '\0' ? NULL : dev);
	reply_text(listing->out, "type", type_name(body->rtm_type));
	reply_number(listing->out, "metric", metric);
	reply_item_end(listing->out);
}

static bool list_family(struct request *request, struct listing *listing, uint8_t family)
{
	_Alignas(struct nlmsghdr) char space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct rtmsg *body;

	message->nlmsg_type = RTM_GETROUTE;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->rtm_family = family;
	mnl_attr_put_u32(message, RTA_TABLE, listing->table);
	return rtnl_dump(request, listing->netns, message, list_route, listing);
}

bool op_route_list(struct request *request)
{
	struct buf *out = &request->helper->out;
	struct listing listing = {.out = out};
	size_t before = out->len;
	int64_t table;

	if (!request_netns(request, &listing.netns) ||
	    !field_number(request, request->fields, "table", 1, UINT32_MAX, &table))
		return false;
	listing.table = (uint32_t)table;
	reply_begin(out, request->id);
	reply_list(out, "routes");
	if (!list_family(request, &listing, AF_INET) || !list_family(request, &listing, AF_INET6)) {
		out->len = before;
		return false;
	}
	reply_list_end(out);
	reply_end(out);
	return true;
}
