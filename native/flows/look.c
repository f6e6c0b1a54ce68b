#include "look.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netlink.h>
#include <string.h>

#include "../net/netlink.h"
#include "conntrack.h"
#include "domain.h"
#include "error.h"
#include "holdings.h"
#include "promise.h"
#include "table.h"
#include "take.h"
#include "tell.h"

#define RETRY_US US_PER_S
/* The kernel tells whole seconds. */
#define SLACK_US (2 * US_PER_S)

struct lease {
	const struct flow *flow;
	uint32_t timeout_s;
};

struct view {
	struct flows *flows;
	struct domain *domain;
	/* A dump's callbacks must ask the kernel nothing: entries that are to live for longer, or not for so long. */
	struct buf leases;
	struct netlink_refusal refusal;
};

static bool is_established(const struct sighting *seen)
{
	return seen->record.protocol == IPPROTO_TCP ? seen->record.tcp_state == TCP_CONNTRACK_ESTABLISHED : seen->replied;
}

static bool is_wanted(const struct domain *domain, const struct sighting *seen)
{
	return domain_shares(domain, seen->record.family, seen->record.reply.dst.bytes);
}

static bool is_carried(const struct domain *domain, const struct flow *flow)
{
	return holdings_has(domain, flow->record.family, flow->record.reply.dst.bytes);
}

static void carry(struct domain *domain, struct flow *flow, bool known)
{
	bool carried = is_carried(domain, flow);

	if (known && carried && !flow->local)
		domain->promise.came++;
	table_set_local(domain, flow, carried);
}

static void note_end(struct view *view, struct flow *flow)
{
	if (flow->local)
		tell_change(view->flows, RECORD_DELETE, &flow->record);
	table_remove(view->domain, flow);
}

static void note_live(struct view *view, const struct sighting *seen)
{
	struct flow *flow = table_find(view->domain, &seen->record);
	bool known = flow != NULL, news;

	if (!is_wanted(view->domain, seen) || (!known && !is_established(seen)))
		return;
	if (!known)
		flow = table_add(view->domain, &seen->record);
	news = !flow->local || !tuple_equal(&flow->record.reply, &seen->record.reply) || flow->record.mark != seen->record.mark ||
	       (seen->record.tcp_state != 0 && flow->record.tcp_state != seen->record.tcp_state);
	flow->record.reply = seen->record.reply;
	flow->record.mark = seen->record.mark;
	/* An event that is not about the state does not tell it. */
	if (seen->record.tcp_state != 0)
		flow->record.tcp_state = seen->record.tcp_state;
	flow->ct_id = seen->ct_id;
	carry(view->domain, flow, known);
	/* Whoever has the address since a moment knows nothing of a flow that was about to begin here. */
	if (flow->local ? news : !known)
		tell_change(view->flows, RECORD_PUT, &flow->record);
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

/* A flow that came here lives as the kernel has it; one that went, only for as long as its node renews it. */
static void lease(struct view *view, struct flow *flow, bool came, const struct sighting *seen)
{
	uint64_t short_s = take_timeout(view->flows, &flow->record), now = now_us();
	struct lease lease = {.flow = flow};

	if (flow->local && flow->replica && !came) {
		flow->replica = false;
		if (flow->record.protocol == IPPROTO_TCP && flow->record.tcp_state == TCP_CONNTRACK_ESTABLISHED)
			lease.timeout_s = (uint32_t)view->domain->established_s;
	} else if (!flow->local && seen->expires_us > now + short_s * US_PER_S + SLACK_US) {
		flow->replica = true;
		lease.timeout_s = (uint32_t)short_s;
	}
	if (lease.timeout_s != 0)
		buf_put(&view->leases, &lease, sizeof(lease));
}

static void note_item(const struct nlmsghdr *message, void *arg)
{
	struct view *view = arg;
	struct domain *domain = view->domain;
	struct netlink_refusal refusal;
	struct sighting seen;
	struct flow *flow;
	bool before, known;

	if (netlink_refused(message, &refusal)) {
		view->refusal = refusal;
		return;
	}
	if ( conntrack_read(message, &seen) != SIGHTING_LIVE || !is_wanted(domain, &seen))
		return;
	flow = table_find(domain, &seen.record);
	known = flow != NULL;
	if (flow == NULL) {
		if (!is_established(&seen))
			return;
		flow = table_add(domain, &seen.record);
		/* What an earlier process put here has the timeout of such entries, or less. */
		flow->replica = seen.expires_us <= now_us() + take_timeout(view->flows, &seen.record) * US_PER_S + SLACK_US;
	}
	before = flow->local;
	flow->look = domain->look;
	flow->ct_id = seen.ct_id;
	flow->record.reply = seen.record.reply;
	flow->record.mark = seen.record.mark;
	flow->record.tcp_state = seen.record.tcp_state;
	carry(domain, flow, known);
	lease(view, flow, !before, &seen);
	if (flow->local)
		tell_change(view->flows, RECORD_PUT, &flow->record);
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
	for (size_t at = 0; at < view->leases.len; at += sizeof(struct lease)) {
		struct lease lease;
		memcpy(&lease, view->leases.data + at, sizeof(lease));
		conntrack_set_timeout(view->domain, &lease.flow->record, lease.timeout_s);
	}
}

void look_at_all(struct flows *flows, struct domain *domain)
{
	struct view view = {.flows = flows, .domain = domain};
	int err = domain->unsure ? holdings_ask(domain) : 0;

	if (domain->gained)
		promise_due(domain);
	domain->moved = domain->gained = false;
	domain->look++;
	if (err == 0)
		err = conntrack_ask_all(domain);
	if (err == 0)
		err = netlink_receive(domain->request_fd, note_item, &view);
	if (err == 0)
		err = view.refusal.err;
	if (err == 0) {
		act(&view);
		drop_vanished(&view);
		say_error(flows, domain->error, "%s", "");
	} else {
		say_error(flows, domain->error, "listing flows: %s", strerror(err));
	}
	domain->look_us = now_us() + (err == 0 && !domain->unsure ? flows->config.refresh_us : RETRY_US);
	buf_reset(&view.leases, 0);
}
