#include "bind.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "../net/netlink.h"
#include "proxied.h"

/* All messages of one address. */
#define MESSAGE_SPACE 128

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

static size_t put_address(uint8_t *at, const struct place *place, const struct address *address, bool bind, uint32_t seq)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	size_t len = address_len(address->family);
	struct ifaddrmsg *body;

	message->nlmsg_type = bind ? RTM_NEWADDR : RTM_DELADDR;
	message->nlmsg_flags = NLM_F_REQUEST | (bind ? NLM_F_CREATE | NLM_F_EXCL : 0);
	message->nlmsg_seq = seq;
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

/* Binding an address that is there, or unbinding one that is not, is no error. */
static bool is_so_already(bool bind, int err)
{
	return bind ? err == EEXIST : err == EADDRNOTAVAIL || err == ESRCH || err == ENOENT || err == ENODEV;
}

static void note_refusal(const struct nlmsghdr *message, void *arg)
{
	struct batch *batch = arg;
	struct netlink_refusal refusal;

	if (netlink_refused(message, &refusal) && refusal.seq < batch->count && !is_so_already(batch->bind, refusal.err))
		batch->entries[refusal.seq]->err = refusal.err;
}

static void ask(const struct place *place, struct batch *batch)
{
	_Alignas(struct nlmsghdr) static uint8_t data[BATCH * MESSAGE_SPACE];
	size_t len = 0;
	int err;

	for (size_t i = 0; i < batch->count; i++) {
		const struct entry *entry = batch->entries[i];
		len += (entry->proxied ? proxied_put : put_address)(data + len, place, &entry->address, batch->bind, (uint32_t)i);
	}
	err = netlink_ask(place->route_fd, data, len, note_refusal, batch);
	for (size_t i = 0; i < batch->count && err != 0; i++)
		batch->entries[i]->err = err;
}

/*
 * Removes the other part of an address of which only one part could be added. A route alone accepts packets that nobody
 * sends here. A neighbour alone attracts packets that are not accepted.
 */
static void undo_halves(const struct place *place, struct entry **entries, size_t count)
{
	struct entry *halves[BATCH];
	int errors[BATCH];
	struct batch batch = {.entries = halves};

	for (size_t i = 0; i < count; i++)
		if (entries[i]->err != 0 && entries[i]->proxied) {
			errors[batch.count] = entries[i]->err;
			halves[batch.count++] = entries[i];
		}
	if (batch.count > 0)
		ask(place, &batch);
	for (size_t i = 0; i < batch.count; i++)
		halves[i]->err = errors[i];
}

void bind_addresses(struct place *place, struct entry **entries, size_t count, bool bind)
{
	struct batch batch = {.entries = entries, .count = count, .bind = bind};

	for (size_t i = 0; i < count; i++) {
		entries[i]->err = 0;
		if (bind)
			entries[i]->proxied = place->proxies && entries[i]->address.family == AF_INET6;
	}
	ask(place, &batch);
	for (size_t i = 0; i < count; i++)
		if (entries[i]->err == 0)
			entries[i]->bound = bind;
	if (bind)
		undo_halves(place, entries, count);
}
