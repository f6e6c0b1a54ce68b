#include "look.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "../src/netlink.h"
#include "conntrack.h"
#include "domain.h"
#include "peer.h"
#include "table.h"

/* The kernel tells seconds: an entry that ends so much later than it was to was renewed by a packet. */
#define RENEWED_US 1500000
/* A peer that is silent for so long carries nothing. */
#define SILENT_US (10 * US_PER_S)
#define RETRY_US US_PER_S

struct view {
	struct flows *flows;
	struct domain *domain;
	/* A dump's callbacks must ask the kernel nothing: flows to delete there, and to hold on to. */
	struct buf ended, adopted;
	struct netlink_refusal refusal;
};

static bool is_closing(const struct flow_record *record)
{
	return record->protocol == IPPROTO_TCP && record->tcp_state > TCP_CONNTRACK_ESTABLISHED;
}

static bool is_established(const struct sighting *seen)
{
	return seen->record.protocol == IPPROTO_TCP ? seen->record.tcp_state == TCP_CONNTRACK_ESTABLISHED : seen->replied;
}

static bool is_wanted(const struct domain *domain, const struct sighting *seen)
{
	return domain_shares(domain, seen->record.family, seen->record.reply.dst.bytes);
}

static void tell(struct view *view, struct flow *flow, bool active)
{
	flow->record.active = active;
	peers_tell(view->flows, RECORD_PUT, &flow->record);
}

static void note_end(struct view *view, struct flow *flow)
{
	if (flow->local)
		peers_tell(view->flows, RECORD_DELETE, &flow->record);
	table_remove(view->domain, flow);
}

static void note_live(struct view *view, const struct sighting *seen)
{
	struct flow *flow = table_find(view->domain, &seen->record);
	bool news;

	if (!is_wanted(view->domain, seen) || (flow == NULL && !is_established(seen)))
		return;
	if (flow == NULL)
		flow = table_add(view->domain, &seen->record);
	news = !flow->local || !tuple_equal(&flow->record.reply, &seen->record.reply) || flow->record.mark != seen->record.mark ||
	       (seen->record.tcp_state != 0 && flow->record.tcp_state != seen->record.tcp_state);
	table_set_local(view->domain, flow, true);
	flow->record.reply = seen->record.reply;
	flow->record.mark = seen->record.mark;
	/* An event that is not about the state does not tell it. */
	if (seen->record.tcp_state != 0)
		flow->record.tcp_state = seen->record.tcp_state;
	flow->active = true;
	flow->ct_id = seen->ct_id;
	flow->expires_us = seen->expires_us;
	flow->origin = NULL;
	if (news)
		tell(view, flow, true);
}

static void note_event(const struct nlmsghdr *message, void *arg)
{
	struct view *view = arg;
	struct sighting seen;
	enum sighting_kind kind = conntrack_read(message, &seen);
	struct flow *flow;

	if (kind == SIGHTING_NONE)
		return;
	/* Our own doing; it tells the kernel's name of what we made. */
	if (message->nlmsg_pid == view->domain->request_port) {
		flow = kind == SIGHTING_LIVE ? table_find(view->domain, &seen.record) : NULL;
		if (flow != NULL)
			flow->ct_id = seen.ct_id;
		return;
	}
	if (kind == SIGHTING_LIVE) {
		note_live(view, &seen);
		return;
	}
	flow = table_find(view->domain, &seen.record);
	if (flow != NULL && (flow->ct_id == 0 || seen.ct_id == 0 || flow->ct_id == seen.ct_id))
		note_end(view, flow);
}

void look_at_events(struct flows *flows, struct domain *domain)
{
	struct view view = {.flows = flows, .domain = domain};
	int err = netlink_receive(domain->event_fd, note_event, &view);

	/* Events were lost. */
	if (err == ENOBUFS)
		domain->look_us = now_us();
}

/* Whether the flow is this node's now that its node is silent: the address it is translated to came here. */
static bool is_left_to_us(const struct view *view, const struct flow *flow)
{
	const struct domain *domain = view->domain;

	if (flow->record.protocol != IPPROTO_TCP || is_closing(&flow->record) ||
	    (flow->origin != NULL && now_us() - flow->origin->heard_us < SILENT_US))
		return false;
	for (size_t i = 0; i < domain->shared_count; i++)
		if (domain->held[i] && domain->shared[i].family == flow->record.family &&
		    memcmp(domain->shared[i].bytes, flow->record.reply.dst.bytes, address_len(flow->record.family)) == 0)
			return true;
	return false;
}

/* One that nobody told us of: what an earlier process put here has the timeout of such entries, or less. */
static bool is_ours(const struct view *view, const struct sighting *seen)
{
	return seen->record.protocol == IPPROTO_TCP &&
	       seen->expires_us > now_us() + (view->flows->config.tcp_timeout_s + 1) * US_PER_S;
}

static void look_at_local(struct view *view, struct flow *flow, bool renewed)
{
	if (flow->doubts > 0 && !renewed) {
		buf_put(&view->ended, &flow, sizeof(flow));
		return;
	}
	if (flow->doubts > 0)
		flow->doubts--;
	flow->active = renewed;
	tell(view, flow, renewed);
}

static void note_item(const struct nlmsghdr *message, void *arg)
{
	struct view *view = arg;
	struct domain *domain = view->domain;
	struct sighting seen;
	struct flow *flow;
	bool renewed;

	if (netlink_refused(message, &view->refusal) || conntrack_read(message, &seen) != SIGHTING_LIVE || !is_wanted(domain, &seen))
		return;
	flow = table_find(domain, &seen.record);
	if (flow == NULL) {
		if (!is_established(&seen))
			return;
		flow = table_add(domain, &seen.record);
		flow->expires_us = seen.expires_us;
		table_set_local(domain, flow, is_ours(view, &seen));
	}
	renewed = seen.expires_us > flow->expires_us + RENEWED_US;
	flow->look = domain->look;
	flow->expires_us = seen.expires_us;
	flow->ct_id = seen.ct_id;
	flow->record.mark = seen.record.mark;
	flow->record.tcp_state = seen.record.tcp_state;
	if (!flow->local && renewed) {
		table_set_local(domain, flow, true);
		flow->active = true;
		flow->origin = NULL;
		tell(view, flow, true);
	} else if (flow->local) {
		look_at_local(view, flow, renewed);
	} else if (is_left_to_us(view, flow)) {
		buf_put(&view->adopted, &flow, sizeof(flow));
	}
}

static size_t flows_in(const struct buf *list)
{
	return list->len / sizeof(struct flow *);
}

static struct flow *flow_at(const struct buf *list, size_t index)
{
	struct flow *flow;

	memcpy(&flow, list->data + index * sizeof(flow), sizeof(flow));
	return flow;
}

/* What the kernel no longer has: its end was missed. */
static void drop_vanished(struct view *view)
{
	struct domain *domain = view->domain;

	for (size_t i = 0; i < domain->bucket_count; i++)
		for (struct flow *flow = domain->buckets[i], *next; flow != NULL; flow = next) {
			next = flow->next;
			if (flow->look != domain->look)
				note_end(view, flow);
		}
}

static void act(struct view *view)
{
	for (size_t i = 0; i < flows_in(&view->ended); i++) {
		struct flow *flow = flow_at(&view->ended, i);
		conntrack_delete(view->domain, flow);
		table_remove(view->domain, flow);
	}
	for (size_t i = 0; i < flows_in(&view->adopted); i++) {
		struct flow *flow = flow_at(&view->adopted, i);
		if (conntrack_update(view->domain, &flow->record, (uint32_t)view->domain->established_s) != 0)
			continue;
		table_set_local(view->domain, flow, true);
		flow->active = false;
		flow->origin = NULL;
		flow->expires_us = now_us() + view->domain->established_s * US_PER_S;
		tell(view, flow, false);
	}
}

void look_at_all(struct flows *flows, struct domain *domain)
{
	struct view view = {.flows = flows, .domain = domain};
	int err;

	domain_learn_held(domain);
	domain->look++;
	err = conntrack_ask_all(domain);
	if (err == 0)
		err = netlink_receive(domain->request_fd, note_item, &view);
	if (err == 0)
		err = view.refusal.err;
	if (err == 0) {
		drop_vanished(&view);
		act(&view);
		say_error(flows, domain->error, "%s", "");
	} else {
		say_error(flows, domain->error, "listing flows: %s", strerror(err));
	}
	domain->look_us = now_us() + (err == 0 ? flows->config.refresh_us : RETRY_US);
	buf_reset(&view.ended, 0);
	buf_reset(&view.adopted, 0);
}
