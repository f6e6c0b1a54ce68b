#include "bind.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "../src/netlink.h"
#include "table.h"

#define MESSAGE_SPACE 128

/* As in the kernel since 5.18; headers may be older. */
#define ATTRIBUTE_PROTO 11

/*
 * The node's own traffic must never have such an address as its source. IPv6 passes over deprecated addresses. IPv4 takes
 * the first address of the interface, or the one of the same subnet: that is the node's own as long as these come after
 * it, which those of a narrower scope do not (keepalived as well takes the first for the interface's own).
 */
static void put_add(struct nlmsghdr *message, const struct ifaddrmsg *body)
{
	mnl_attr_put_u8(message, ATTRIBUTE_PROTO, MARK);
	if (body->ifa_family == AF_INET6) {
		struct ifa_cacheinfo lifetime = {.ifa_prefered = 0, .ifa_valid = UINT32_MAX};
		mnl_attr_put_u32(message, IFA_FLAGS, IFA_F_NODAD | IFA_F_NOPREFIXROUTE);
		mnl_attr_put(message, IFA_CACHEINFO, sizeof(lifetime), &lifetime);
	}
}

static size_t put_message(uint8_t *at, const struct place *place, const struct address *address, bool bind)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	size_t len = address_len(address->family);
	struct ifaddrmsg *body;

	message->nlmsg_type = bind ? RTM_NEWADDR : RTM_DELADDR;
	message->nlmsg_flags = NLM_F_REQUEST | (bind ? NLM_F_CREATE | NLM_F_EXCL : 0);
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->ifa_family = (uint8_t)address->family;
	body->ifa_prefixlen = (uint8_t)(len * 8);
	body->ifa_index = (uint32_t)place->ifindex;
	body->ifa_scope = RT_SCOPE_UNIVERSE;
	mnl_attr_put(message, IFA_LOCAL, len, address->bytes);
	mnl_attr_put(message, IFA_ADDRESS, len, address->bytes);
	if (bind)
		put_add(message, body);
	return NLMSG_ALIGN(message->nlmsg_len);
}

struct batch {
	struct entry **entries;
	size_t count;
	bool bind;
};

/* What is so already is no error. */
static bool is_so_already(bool bind, int err)
{
	return bind ? err == EEXIST : err == EADDRNOTAVAIL || err == ESRCH || err == ENODEV;
}

static void note_refusal(const struct nlmsghdr *message, void *arg)
{
	struct batch *batch = arg;
	struct netlink_refusal refusal;

	if (netlink_refused(message, &refusal) && refusal.seq < batch->count && !is_so_already(batch->bind, refusal.err))
		batch->entries[refusal.seq]->err = refusal.err;
}

void bind_addresses(struct place *place, struct entry **entries, size_t count, bool bind)
{
	_Alignas(struct nlmsghdr) static uint8_t data[BATCH * MESSAGE_SPACE];
	struct batch batch = {.entries = entries, .count = count, .bind = bind};
	size_t len = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		struct nlmsghdr *message = (struct nlmsghdr *)(data + len);
		len += put_message(data + len, place, &entries[i]->address, bind);
		message->nlmsg_seq = (uint32_t)i;
		entries[i]->err = 0;
	}
	err = netlink_send(place->route_fd, data, len);
	if (err == 0)
		err = netlink_receive(place->route_fd, note_refusal, &batch);
	for (size_t i = 0; i < count; i++) {
		if (err != 0)
			entries[i]->err = err;
		if (entries[i]->err == 0)
			entries[i]->bound = bind;
	}
}

struct adoption {
	struct place *place;
	struct entry *entries;
	size_t count;
	struct address strays[BATCH];
	size_t stray_count;
};

static struct entry *find(struct adoption *adoption, const struct address *address)
{
	struct entry key = {.place = adoption->place, .address = *address};
	size_t from = 0, to = adoption->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = entry_compare(&key, &adoption->entries[middle]);
		if (order == 0)
			return &adoption->entries[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

static void note_address(const struct nlmsghdr *message, void *arg)
{
	struct adoption *adoption = arg;
	const struct ifaddrmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *local = NULL;
	struct address address = {0};
	struct entry *entry;
	bool marked = false;

	if (message->nlmsg_type != RTM_NEWADDR || body->ifa_index != (uint32_t)adoption->place->ifindex ||
	    (body->ifa_family != AF_INET && body->ifa_family != AF_INET6) ||
	    body->ifa_prefixlen != address_len(body->ifa_family) * 8)
		return;
	mnl_attr_for_each(attr, message, sizeof(*body)) {
		uint16_t type = mnl_attr_get_type(attr);
		/* IPv6 has only IFA_ADDRESS. */
		if (type == IFA_LOCAL || (type == IFA_ADDRESS && local == NULL))
			local = attr;
		if (type == ATTRIBUTE_PROTO)
			marked = mnl_attr_get_u8(attr) == MARK;
	}
	if (local == NULL || mnl_attr_get_payload_len(local) != address_len(body->ifa_family))
		return;
	address.family = body->ifa_family;
	memcpy(address.bytes, mnl_attr_get_payload(local), address_len(address.family));
	entry = find(adoption, &address);
	if (entry != NULL)
		entry->bound = true;
	else if (marked && adoption->stray_count < BATCH)
		adoption->strays[adoption->stray_count++] = address;
}

static int dump(struct adoption *adoption)
{
	_Alignas(struct nlmsghdr) uint8_t space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct ifaddrmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	int err;

	message->nlmsg_type = RTM_GETADDR;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	body->ifa_index = (uint32_t)adoption->place->ifindex;
	err = netlink_send(adoption->place->route_fd, message, message->nlmsg_len);
	return err == 0 ? netlink_receive(adoption->place->route_fd, note_address, adoption) : err;
}

size_t bind_adopt(struct place *place, struct entry *entries, size_t count)
{
	struct adoption adoption = {.place = place, .entries = entries, .count = count};
	size_t removed = 0;

	/* A round for each batch of strays; the second finds those the first had no room for. */
	while (dump(&adoption) == 0 && adoption.stray_count > 0) {
		struct entry strays[BATCH], *pointers[BATCH];
		size_t gone = 0;
		for (size_t i = 0; i < adoption.stray_count; i++) {
			strays[i] = (struct entry){.place = place, .address = adoption.strays[i], .bound = true};
			pointers[i] = &strays[i];
		}
		bind_addresses(place, pointers, adoption.stray_count, false);
		for (size_t i = 0; i < adoption.stray_count; i++)
			gone += !strays[i].bound;
		removed += gone;
		adoption.stray_count = 0;
		/* What cannot be removed would be found for ever. */
		if (gone == 0)
			break;
	}
	return removed;
}
