/* addr, addr-list. */
#include <linux/if_addr.h>
#include <string.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"
#include "rtnl.h"

/*
 * A VIP must never be the source of the node's own connections. For IPv6 a preferred lifetime of 0 ensures that. IPv4 has no
 * such mark; there the route's source decides.
 */
static void put_lifetime(struct nlmsghdr *message)
{
	struct ifa_cacheinfo lifetime = {.ifa_prefered = 0, .ifa_valid = UINT32_MAX};
	mnl_attr_put(message, IFA_CACHEINFO, sizeof(lifetime), &lifetime);
}

static bool write_change(struct request *request, struct netns *netns, const struct json *change, struct nlmsghdr *message)
{
	struct address address;
	struct ifaddrmsg *body;
	int64_t prefix;
	int ifindex;
	bool adding;

	if (!rtnl_verb(request, change, "add", &adding))
		return false;
	message->nlmsg_type = adding ? RTM_NEWADDR : RTM_DELADDR;
	message->nlmsg_flags = NLM_F_REQUEST | (adding ? NLM_F_CREATE | NLM_F_EXCL : 0);
	if (!field_address(request, change, "address", &address) ||
	    !field_number(request, change, "prefix", 0, address_len(address.family) * 8, &prefix) ||
	    !request_dev(request, netns, change, &ifindex))
		return false;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->ifa_family = (uint8_t)address.family;
	body->ifa_prefixlen = (uint8_t)prefix;
	body->ifa_index = (uint32_t)ifindex;
	body->ifa_scope = RT_SCOPE_UNIVERSE;
	mnl_attr_put(message, IFA_LOCAL, address_len(address.family), address.bytes);
	mnl_attr_put(message, IFA_ADDRESS, address_len(address.family), address.bytes);
	if (adding && address.family == AF_INET6) {
		/* arp-probe has looked for duplicates before; DAD would delay the address by a second. */
		mnl_attr_put_u32(message, IFA_FLAGS, IFA_F_NODAD);
		if (prefix == 128)
			put_lifetime(message);
	}
	return true;
}

bool op_addr(struct request *request)
{
	return rtnl_apply(request, write_change);
}

struct listing {
	struct buf *out;
	uint32_t ifindex;
};

static void list_address(const struct nlmsghdr *message, void *arg)
{
	struct listing *listing = arg;
	const struct ifaddrmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *local = NULL, *address = NULL;
	char text[ADDRESS_TEXT];

	if (message->nlmsg_type != RTM_NEWADDR || body->ifa_index != listing->ifindex)
		return;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		if (mnl_attr_get_type(attr) == IFA_LOCAL)
			local = attr;
		if (mnl_attr_get_type(attr) == IFA_ADDRESS)
			address = attr;
	}
	/* On point-to-point links IFA_ADDRESS is the peer's. */
	if (local == NULL)
		local = address;
	if (local == NULL || mnl_attr_get_payload_len(local) != address_len(body->ifa_family))
		return;
	reply_item(listing->out);
	reply_text(listing->out, "address", address_print(text, body->ifa_family, mnl_attr_get_payload(local)));
	reply_number(listing->out, "prefix", body->ifa_prefixlen);
	reply_item_end(listing->out);
}

bool op_addr_list(struct request *request)
{
	_Alignas(struct nlmsghdr) char space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct buf *out = &request->helper->out;
	size_t before = out->len;
	struct ifaddrmsg *body;
	struct netns *netns;
	int ifindex;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex))
		return false;
	message->nlmsg_type = RTM_GETADDR;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->ifa_family = AF_UNSPEC;
	body->ifa_index = (uint32_t)ifindex;

	struct listing listing = {.out = out, .ifindex = (uint32_t)ifindex};
	reply_begin(out, request->id);
	reply_list(out, "addresses");
	if (!rtnl_dump(request, netns, message, list_address, &listing)) {
		out->len = before;
		return false;
	}
	reply_list_end(out);
	reply_end(out);
	return true;
}
