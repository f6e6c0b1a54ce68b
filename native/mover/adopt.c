#include "adopt.h"

#include <linux/rtnetlink.h>
#include <string.h>

#include "../net/netlink.h"
#include "bind.h"
#include "proxied.h"
#include "table.h"

struct adoption {
	struct place *place;
	struct entry *entries;
	size_t count;
	struct address strays[BATCH];
	size_t stray_count;
};

/* What to look for. Routes come before neighbours: a stray route is removed together with its neighbour. */
static const uint16_t KINDS[] = {RTM_GETADDR, RTM_GETROUTE, RTM_GETNEIGH};
#define HALVES (FOUND_ROUTE | FOUND_NEIGHBOUR)

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

static void note_stray(struct adoption *adoption, const struct address *address)
{
	if (adoption->stray_count < BATCH)
		adoption->strays[adoption->stray_count++] = *address;
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
	else if (marked)
		note_stray(adoption, &address);
}

static void note_half(const struct nlmsghdr *message, void *arg)
{
	struct adoption *adoption = arg;
	struct address address = {0};
	struct entry *entry;

	if (!proxied_read(adoption->place, message, &address))
		return;
	entry = find(adoption, &address);
	if (entry == NULL)
		note_stray(adoption, &address);
	else
		entry->found |= message->nlmsg_type == RTM_NEWROUTE ? FOUND_ROUTE : FOUND_NEIGHBOUR;
}

static int dump_addresses(struct adoption *adoption)
{
	_Alignas(struct nlmsghdr) uint8_t space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct ifaddrmsg *body = mnl_nlmsg_put_extra_header(message, sizeof(*body));

	message->nlmsg_type = RTM_GETADDR;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	body->ifa_index = (uint32_t)adoption->place->ifindex;
	return netlink_ask(adoption->place->route_fd, message, message->nlmsg_len, note_address, adoption);
}

static int dump(struct adoption *adoption, uint16_t kind)
{
	adoption->stray_count = 0;
	if (kind == RTM_GETADDR)
		return dump_addresses(adoption);
	return proxied_dump(adoption->place, kind, note_half, adoption);
}

/* Returns how many strays were removed. */
static size_t remove_strays(struct adoption *adoption, bool proxied)
{
	struct entry strays[BATCH], *pointers[BATCH];
	size_t gone = 0;

	for (size_t i = 0; i < adoption->stray_count; i++) {
		strays[i] = (struct entry){
			.place = adoption->place, .address = adoption->strays[i], .bound = true, .proxied = proxied};
		pointers[i] = &strays[i];
	}
	bind_addresses(adoption->place, pointers, adoption->stray_count, false);
	for (size_t i = 0; i < adoption->stray_count; i++)
		gone += !strays[i].bound;
	return gone;
}

/* A route or a neighbour alone is useless. An address that is also bound does not count as proxied. */
static void take_whole(struct adoption *adoption)
{
	struct entry halves[BATCH], *pointers[BATCH];
	size_t count = 0;

	for (size_t i = 0; i < adoption->count; i++) {
		struct entry *entry = &adoption->entries[i];
		if (entry->found == HALVES && !entry->bound) {
			entry->bound = entry->proxied = true;
		} else if (entry->found != 0) {
			halves[count] = (struct entry){.place = entry->place, .address = entry->address, .proxied = true};
			pointers[count] = &halves[count];
			count++;
		}
		entry->found = 0;
		if (count == BATCH || (count > 0 && i + 1 == adoption->count)) {
			bind_addresses(adoption->place, pointers, count, false);
			count = 0;
		}
	}
}

size_t adopt_place(struct place *place, struct entry *entries, size_t count)
{
	struct adoption adoption = {.place = place, .entries = entries, .count = count};
	size_t removed = 0, gone;

	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
		/* One round for each batch of strays. The next round finds those that did not fit into the one before. */
		while (dump(&adoption, KINDS[i]) == 0 && adoption.stray_count > 0) {
			gone = remove_strays(&adoption, KINDS[i] != RTM_GETADDR);
			removed += gone;
			/* Otherwise a stray that cannot be removed would be found again and again. */
			if (gone == 0)
				break;
		}
	take_whole(&adoption);
	return removed;
}
