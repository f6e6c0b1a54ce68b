#include "take.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_tcp.h>

#include "conntrack.h"
#include "domain.h"
#include "table.h"

/* Looks that a flow which a peer saw end has to show that it lives on here: the first may still see what was before. */
#define DOUBTS 2

/* Of flows that end, as the kernel has them. */
static uint32_t timeout_of(const struct flows *flows, const struct flow_record *record)
{
	if (record->protocol == IPPROTO_UDP)
		return flows->config.udp_timeout_s;
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

static void take_new(struct domain *domain, const struct peer *from, const struct flow_record *record, uint32_t timeout_s)
{
	int err = conntrack_create(domain, record, timeout_s);
	struct flow *flow;

	if (err != 0) {
		/* This node's own entry stays. */
		domain->conflicts++;
		return;
	}
	flow = table_add(domain, record);
	flow->origin = from;
	flow->look = domain->look;
	flow->expires_us = now_us() + timeout_s * US_PER_S;
}

static void take_again(struct domain *domain, struct flow *flow, const struct peer *from, const struct flow_record *record,
		       uint32_t timeout_s)
{
	bool same = tuple_equal(&flow->record.reply, &record->reply);

	if (same && conntrack_update(domain, record, timeout_s) == 0) {
		table_set_local(domain, flow, false);
		flow->record = *record;
		flow->origin = from;
		flow->expires_us = now_us() + timeout_s * US_PER_S;
		return;
	}
	/* Another flow by now, or the kernel has lost it. */
	conntrack_delete(domain, flow);
	table_remove(domain, flow);
	take_new(domain, from, record, timeout_s);
}

bool take_put(struct flows *flows, const struct peer *from, const struct flow_record *record)
{
	struct domain *domain = domain_of(flows, record);
	uint32_t timeout_s = timeout_of(flows, record);
	struct flow *flow;

	if (domain == NULL)
		return false;
	/* Its namespace is not there at the moment; the peer tells again. */
	if (domain->request_fd < 0)
		return true;
	flow = table_find(domain, record);
	if (flow == NULL)
		take_new(domain, from, record, timeout_s);
	else if (!flow->local || (record->active && !flow->active))
		take_again(domain, flow, from, record, timeout_s);
	return true;
}

bool take_delete(struct flows *flows, const struct flow_record *record)
{
	struct domain *domain = domain_of(flows, record);
	struct flow *flow;

	if (domain == NULL)
		return false;
	flow = domain->request_fd < 0 ? NULL : table_find(domain, record);
	if (flow == NULL)
		return true;
	if (flow->local) {
		flow->doubts = DOUBTS;
		return true;
	}
	conntrack_delete(domain, flow);
	table_remove(domain, flow);
	return true;
}
