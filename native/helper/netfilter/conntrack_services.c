#include "conntrack_services.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <stdlib.h>
#include <string.h>

static int compare_ends(const void *a, const void *b)
{
	const struct end *one = a, *other = b;
	int order = memcmp(one->bytes, other->bytes, sizeof(one->bytes));

	return order != 0 ? order : (one->port > other->port) - (one->port < other->port);
}

static int compare_services(const void *a, const void *b)
{
	const struct ct_service *one = a, *other = b;
	int order = one->family - other->family;

	if (order == 0)
		order = one->protocol - other->protocol;
	return order != 0 ? order : compare_ends(&one->destination, &other->destination);
}

static bool is_member(const struct ct_service *service, const struct end *end)
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

bool services_match(const struct ct_service *services, size_t count, int family, uint8_t protocol, const struct tuple *sent,
		    const struct tuple *answered, const struct nlattr *info)
{
	const struct ct_service key = {.family = family, .protocol = protocol, .destination = sent->dst};
	const struct ct_service *end = services + count;
	const struct ct_service *at = bsearch(&key, services, count, sizeof(key), compare_services);

	if (at == NULL)
		return false;
	while (at > services && compare_services(at - 1, &key) == 0)
		at--;
	for (; at < end && compare_services(at, &key) == 0; at++)
		if ((!at->only_members || is_member(at, &answered->src)) && (!at->unestablished || is_unestablished(info)))
			return true;
	return false;
}

/* Members of the other family have no flows to this destination. */
static bool read_members(struct request *request, const struct json *service, struct ct_service *out)
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

static bool read_service(struct request *request, const struct json *service, struct ct_service *out)
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

bool services_read(struct request *request, struct buf *out)
{
	const struct json *service;

	if (!field_list(request, request->fields, "services", &service))
		return false;
	for (; service != NULL; service = service->next) {
		struct ct_service read = {0};
		bool is_right = read_service(request, service, &read);
		buf_put(out, &read, sizeof(read));
		if (!is_right)
			return false;
	}
	if (out->len > 0)
		qsort(out->data, out->len / sizeof(struct ct_service), sizeof(struct ct_service), compare_services);
	return true;
}

void services_free(struct buf *services)
{
	for (size_t at = 0; at < services->len; at += sizeof(struct ct_service))
		buf_reset(&((struct ct_service *)(void *)(services->data + at))->members, 0);
	buf_reset(services, 0);
}
