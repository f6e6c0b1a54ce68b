#include "apply.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>

#include "bound.h"
#include "conntrack.h"
#include "counts.h"
#include "domain.h"
#include "table.h"

uint32_t apply_timeout(const struct flows *flows, const struct flow_record *record)
{
	if (record->protocol == IPPROTO_UDP)
		return flows->config.udp_timeout_s;
	/* The kernel's own timeouts of connections that are closing. */
	switch (record->tcp_state) {
	case TCP_CONNTRACK_FIN_WAIT:
	case TCP_CONNTRACK_TIME_WAIT:
		return 120;
	case TCP_CONNTRACK_CLOSE_WAIT:
		return 60;
	case TCP_CONNTRACK_LAST_ACK:
		return 30;
	case TCP_CONNTRACK_CLOSE:
		return 10;
	default:
		return flows->config.tcp_timeout_s;
	}
}

static bool is_sound(const struct flow_record *record)
{
	if (record->original.src.port == 0 || record->original.dst.port == 0 || record->reply.src.port == 0 ||
	    record->reply.dst.port == 0)
		return false;
	if (record->protocol == IPPROTO_UDP)
		return record->tcp_state == 0;
	return record->protocol == IPPROTO_TCP && record->tcp_state >= TCP_CONNTRACK_ESTABLISHED &&
	       record->tcp_state <= TCP_CONNTRACK_CLOSE;
}

static struct domain *domain_of(struct flows *flows, const struct flow_record *record)
{
	struct domain *domain = domain_find(flows, record->domain);

	return domain != NULL && domain_shares(domain, record->family, record->reply.dst.bytes) && is_sound(record) ? domain : NULL;
}

/*
 * A record may arrive late, when the address is bound here already: the peer sent it just before the address moved, or
 * does not know yet that it moved. The entry gets the short timeout all the same; packets of the flow extend it.
 */
static void apply_new(struct domain *domain, const struct flow_record *record, bool held, uint32_t timeout_s)
{
	struct flow *flow;

	if (conntrack_create(domain, record, timeout_s) != 0) {
		/* The kernel has an entry with this tuple. It is this node's own, and stays. */
		domain->refused++;
		return;
	}
	flow = table_add(domain, record);
	flow->scan = domain->scan;
	flow->replica = !held;
	table_set_local(domain, flow, held);
}

static void apply_update(struct domain *domain, struct flow *flow, const struct flow_record *record, uint32_t timeout_s)
{
	if (tuple_equal(&flow->record.reply, &record->reply) && conntrack_update(domain, record, timeout_s) == 0) {
		table_set_local(domain, flow, false);
		flow->record = *record;
		flow->replica = true;
		return;
	}
	/* The tuple belongs to another flow by now, or the kernel no longer has the entry. */
	conntrack_delete(domain, flow);
	table_remove(domain, flow);
	apply_new(domain, record, false, timeout_s);
}

bool apply_put(struct flows *flows, const struct flow_record *record)
{
	struct domain *domain = domain_of(flows, record);
	uint32_t timeout_s = apply_timeout(flows, record);
	struct flow *flow;
	bool held;

	if (domain == NULL)
		return false;
	/* The namespace is missing at the moment. The peer sends its table again later. */
	if (domain->request_fd < 0)
		return true;
	flow = table_find(domain, record);
	held = bound_has(domain, record->family, record->reply.dst.bytes);
	if (flow == NULL)
		apply_new(domain, record, held, timeout_s);
	else if (held)
		domain->insisted++;
	else
		apply_update(domain, flow, record, timeout_s);
	return true;
}

bool apply_delete(struct flows *flows, const struct flow_record *record)
{
	struct domain *domain = domain_of(flows, record);
	struct flow *flow;

	if (domain == NULL)
		return false;
	flow = domain->request_fd < 0 ? NULL : table_find(domain, record);
	if (flow == NULL)
		return true;
	if (flow->local) {
		/* The flow may have ended on the peer before it moved here, or may still be alive here. Packets extend the timeout. */
		domain->insisted++;
		flow->replica = false;
		conntrack_set_timeout(domain, &flow->record, apply_timeout(flows, &flow->record));
		return true;
	}
	conntrack_delete(domain, flow);
	table_remove(domain, flow);
	counts_flow_ended(domain);
	return true;
}
