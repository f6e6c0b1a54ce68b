#include "neighbour_queue.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "../net/netlink.h"

/* A message to forget one has 28 bytes and an address of up to 20. */
#define MESSAGE 64
#define BATCH 64
#define MOST_BATCHES 64

struct batch {
	const struct place *place;
	_Alignas(struct nlmsghdr) uint8_t messages[BATCH * MESSAGE];
	size_t len;
	size_t count;
};

static void note_unresolved(const struct nlmsghdr *message, void *arg)
{
	struct batch *batch = arg;
	const struct ndmsg *body = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *to = NULL;
	struct nlmsghdr *forget;
	struct ndmsg *which;

	if (message->nlmsg_type != RTM_NEWNEIGH || body->ndm_ifindex != batch->place->ifindex ||
	    !(body->ndm_state & NUD_INCOMPLETE) || batch->count == BATCH)
		return;
	mnl_attr_for_each(attr, message, sizeof(*body))
		if (mnl_attr_get_type(attr) == NDA_DST)
			to = attr;
	if (to == NULL || mnl_attr_get_payload_len(to) > 16)
		return;
	forget = mnl_nlmsg_put_header(batch->messages + batch->len);
	which = mnl_nlmsg_put_extra_header(forget, sizeof(*which));
	forget->nlmsg_type = RTM_DELNEIGH;
	forget->nlmsg_flags = NLM_F_REQUEST;
	which->ndm_family = body->ndm_family;
	which->ndm_ifindex = body->ndm_ifindex;
	mnl_attr_put(forget, NDA_DST, mnl_attr_get_payload_len(to), mnl_attr_get_payload(to));
	batch->len += NLMSG_ALIGN(forget->nlmsg_len);
	batch->count++;
}

static int ask(struct batch *batch)
{
	_Alignas(struct nlmsghdr) uint8_t space[128];
	struct nlmsghdr *request = mnl_nlmsg_put_header(space);
	struct ndmsg *body = mnl_nlmsg_put_extra_header(request, sizeof(*body));

	request->nlmsg_type = RTM_GETNEIGH;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	body->ndm_family = AF_UNSPEC;
	mnl_attr_put_u32(request, NDA_IFINDEX, (uint32_t)batch->place->ifindex);
	batch->len = batch->count = 0;
	return netlink_ask(batch->place->route_fd, request, request->nlmsg_len, note_unresolved, batch);
}

static void ignore(const struct nlmsghdr *message, void *arg)
{
	/* An error is harmless: a neighbour that was resolved or removed meanwhile has no queue. */
	(void)message;
	(void)arg;
}

void neighbour_queue_flush(const struct place *place)
{
	struct batch batch = {.place = place};

	for (int i = 0; i < MOST_BATCHES; i++) {
		if (ask(&batch) != 0 || batch.count == 0)
			return;
		if (netlink_send(place->route_fd, batch.messages, batch.len) != 0)
			return;
		netlink_receive(place->route_fd, ignore, NULL);
		if (batch.count < BATCH)
			return;
	}
}
