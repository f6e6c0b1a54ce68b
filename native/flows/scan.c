#include "scan.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netlink.h>
#include <string.h>

#include "../net/netlink.h"
#include "apply.h"
#include "bound.h"
#include "conntrack.h"
#include "counts.h"
#include "domain.h"
#include "error.h"
#include "send.h"
#include "table.h"

#define RETRY_US US_PER_S
/* The kernel reports whole seconds. */
#define SLACK_US (2 * US_PER_S)

/* For a flow that is still as the dump showed it: here or away, and in this TCP state. */
struct timeout_change {
	struct flow_record record;
	bool local;
	uint32_t timeout_s;
};

struct view {
	struct flows *flows;
	struct domain *domain;
	/* Requests must wait until the dump is read: entries whose timeout will be changed. */
	struct buf timeouts;
	struct netlink_refusal refusal;
};

static bool is_established(const struct entry *seen)
{
	return seen->record.protocol == IPPROTO_TCP ? seen->record.tcp_state == TCP_CONNTRACK_ESTABLISHED : seen->replied;
}

static bool is_wanted(const struct domain *domain, const struct entry *seen)
{
	return domain_shares(domain, seen->record.family, seen->record.reply.dst.bytes);
}

static bool is_carried(const struct domain *domain, const struct flow *flow)
{
	return bound_has(domain, flow->record.family, flow->record.reply.dst.bytes);
}

static void carry(struct domain *domain, struct flow *flow, bool known)
{
	bool carried = is_carried(domain, flow);

	if (known && carried && !flow->local)
		domain->counts.arrived++;
	table_set_local(domain, flow, carried);
}

static void note_end(struct view *view, struct flow *flow)
{
	if (flow->local)
		send_change(view->flows, RECORD_DELETE, &flow->record);
	table_remove(view->domain, flow);
}

static void note_live(struct view *view, const struct entry *seen)
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
	/* Only events of state changes carry the TCP state. */
	if (seen->record.tcp_state != 0)
		flow->record.tcp_state = seen->record.tcp_state;
	flow->ct_id = seen->ct_id;
	carry(view->domain, flow, known);
	/* A flow that began here while the address moved away is unknown to the new node, so it is sent once. */
	if (flow->local ? news : !known)
		send_change(view->flows, RECORD_PUT, &flow->record);
}

static void note_event(const struct nlmsghdr *message, void *arg)
{
	struct view *view = arg;
	struct entry seen;
	enum entry_kind kind = conntrack_read(message, &seen);
	struct flow *flow;

	if (kind == ENTRY_NONE)
		return;
	/* Caused by our own request. It carries the id of the entry that we made. */
	if (message->nlmsg_pid == view->domain->request_port) {
		flow = kind == ENTRY_LIVE ? table_find(view->domain, &seen.record) : NULL;
		if (flow != NULL)
			flow->ct_id = seen.ct_id;
		return;
	}
	if (kind == ENTRY_LIVE) {
		note_live(view, &seen);
		return;
	}
	flow = table_find(view->domain, &seen.record);
	if (flow != NULL && (flow->ct_id == 0 || seen.ct_id == 0 || flow->ct_id == seen.ct_id))
		note_end(view, flow);
}

void scan_events(struct flows *flows, struct domain *domain)
{
	struct view view = {.flows = flows, .domain = domain};
	int err = netlink_receive(domain->event_fd, note_event, &view);

	/* Events were lost: scan the table now. */
	if (err == ENOBUFS)
		domain->scan_us = now_us();
}

static bool is_closing(const struct flow_record *record)
{
	return record->protocol == IPPROTO_TCP && record->tcp_state > TCP_CONNTRACK_ESTABLISHED &&
	       record->tcp_state <= TCP_CONNTRACK_CLOSE;
}

/*
 * A flow that moved here gets the kernel's timeout. A flow that moved away gets the short one, which its node renews. A
 * connection that closed while it got the timeout of established ones gets that of its state.
 */
static void change_timeout(struct view *view, struct flow *flow, bool came, const struct entry *seen)
{
	uint64_t short_s = apply_timeout(view->flows, &flow->record), now = now_us();
	struct timeout_change change = {.record = flow->record, .local = flow->local};

	if (flow->local && flow->replica && !came) {
		flow->replica = false;
		if (flow->record.protocol == IPPROTO_TCP && flow->record.tcp_state == TCP_CONNTRACK_ESTABLISHED)
			change.timeout_s = (uint32_t)view->domain->established_s;
	} else if ((!flow->local || is_closing(&flow->record)) &&
		   seen->expires_us > now + short_s * US_PER_S + SLACK_US) {
		flow->replica = !flow->local;
		change.timeout_s = (uint32_t)short_s;
	}
	if (change.timeout_s != 0)
		buf_put(&view->timeouts, &change, sizeof(change));
}

static void note_item(const struct nlmsghdr *message, void *arg)
{
	struct view *view = arg;
	struct domain *domain = view->domain;
	struct netlink_refusal refusal;
	struct entry seen;
	struct flow *flow;
	bool before, known;

	if (netlink_refused(message, &refusal)) {
		view->refusal = refusal;
		return;
	}
	if (conntrack_read(message, &seen) != ENTRY_LIVE || !is_wanted(domain, &seen))
		return;
	flow = table_find(domain, &seen.record);
	known = flow != NULL;
	if (flow == NULL) {
		if (!is_established(&seen))
			return;
		flow = table_add(domain, &seen.record);
		/* A replica of an earlier process has at most the timeout of replicas. */
		flow->replica = seen.expires_us <= now_us() + apply_timeout(view->flows, &seen.record) * US_PER_S + SLACK_US;
	}
	before = flow->local;
	flow->scan = domain->scan;
	flow->ct_id = seen.ct_id;
	flow->record.reply = seen.record.reply;
	flow->record.mark = seen.record.mark;
	flow->record.tcp_state = seen.record.tcp_state;
	carry(domain, flow, known);
	change_timeout(view, flow, !before, &seen);
	/*
	 * The address may have moved away before the event of a flow that began here was read. The flow is unknown to the
	 * new node, so it is sent once, as in `note_live`, which finds it known by then.
	 */
	if (flow->local || (!known && domain->scanned))
		send_change(view->flows, RECORD_PUT, &flow->record);
}

/* Removes flows that the scan did not see: the event of their end was lost. */
static void drop_vanished(struct view *view)
{
	struct domain *domain = view->domain;

	for (size_t i = 0; i < domain->bucket_count; i++)
		for (struct flow *flow = domain->buckets[i], *next; flow != NULL; flow = next) {
			next = flow->next;
			if (flow->scan != domain->scan)
				note_end(view, flow);
		}
}

/* The events tell which connections closed since the dump. With another state's timeout they would stay for days. */
static void act(struct view *view)
{
	if (view->timeouts.len > 0)
		scan_events(view->flows, view->domain);
	for (size_t at = 0; at < view->timeouts.len; at += sizeof(struct timeout_change)) {
		struct timeout_change change;
		const struct flow *flow;
		memcpy(&change, view->timeouts.data + at, sizeof(change));
		flow = table_find(view->domain, &change.record);
		if (flow != NULL && flow->local == change.local && flow->record.tcp_state == change.record.tcp_state)
			conntrack_set_timeout(view->domain, &change.record, change.timeout_s);
	}
}

void scan_table(struct flows *flows, struct domain *domain)
{
	struct view view = {.flows = flows, .domain = domain};
	int err = domain->bound_uncertain ? bound_query(domain) : 0;

	if (domain->bound_gained)
		counts_address_gained(domain);
	domain->bound_changed = domain->bound_gained = false;
	domain->scan++;
	/* An overflow of the events while this scan runs brings the next one forward. */
	domain->scan_us = UINT64_MAX;
	if (err == 0)
		err = conntrack_dump(domain);
	if (err == 0)
		err = netlink_receive(domain->request_fd, note_item, &view);
	if (err == 0)
		err = view.refusal.err;
	if (err == 0) {
		drop_vanished(&view);
		act(&view);
		domain->scanned = true;
		set_error(flows, domain->error, "%s", "");
	} else {
		set_error(flows, domain->error, "listing flows: %s", strerror(err));
	}
	if (domain->scan_us == UINT64_MAX)
		domain->scan_us = now_us() + (err == 0 && !domain->bound_uncertain ? flows->config.refresh_us : RETRY_US);
	buf_reset(&view.timeouts, 0);
}
