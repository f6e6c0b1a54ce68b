#include "counts.h"

#include "domain.h"
#include "send.h"

/* A count and the records of its flows are separate datagrams: one may arrive before the other. */
#define TICKS_SHORT 2
#define REQUEST_AGAIN_US (5 * US_PER_S)
/* The interval ends near the refresh, when peers send all flows anyway. */
#define MOST_DOUBLED 4
/* The addresses of a shard move one after the other. */
#define JUDGE_US US_PER_S
#define ZERO_FOR_US (10 * US_PER_S)

static bool binds_any(const struct domain *domain)
{
	for (size_t i = 0; i < domain->shared_count; i++)
		if (domain->bound[i])
			return true;
	return false;
}

static void advertise(struct flows *flows, struct domain *domain, uint64_t now)
{
	const struct flow_record count = {.family = AF_INET, .domain = domain->number, .mark = (uint32_t)domain->local};

	if (domain->local > 0)
		domain->counted_us = now;
	/* A peer that is still receiving the whole table has fewer flows than the count. */
	if (domain->counted_us != 0 && flows->send_us == 0 && now - domain->counted_us <= ZERO_FOR_US)
		send_change(flows, RECORD_COUNT, &count);
}

static void request_missing(struct flows *flows, struct domain *domain, uint64_t now)
{
	struct counts *counts = &domain->counts;

	if (counts->advertiser == NULL || domain->remote >= counts->advertised || binds_any(domain)) {
		counts->ticks_short = counts->requests = 0;
		return;
	}
	if (++counts->ticks_short < TICKS_SHORT || now < counts->request_us)
		return;
	send_request(flows, domain);
	counts->request_us = now + (REQUEST_AGAIN_US << counts->requests);
	if (counts->requests < MOST_DOUBLED)
		counts->requests++;
}

/* Some flows end while the address moves and were not missed. If more than half is missing, that cannot be why. */
static void judge_takeover(struct counts *counts)
{
	if (counts->arrived < counts->expected - counts->expected / 2) {
		counts->missed += counts->expected - counts->arrived;
		counts->missed_ms = epoch_ms();
		counts->missed_of = counts->expected;
		counts->missed_arrived = counts->arrived;
	}
	counts->takeover_due_us = 0;
}

void counts_tick(struct flows *flows, struct domain *domain)
{
	uint64_t now = now_us();

	if (domain->event_fd < 0)
		return;
	advertise(flows, domain, now);
	request_missing(flows, domain, now);
	if (domain->counts.takeover_due_us != 0 && domain->counts.takeover_due_us <= now)
		judge_takeover(&domain->counts);
}

bool counts_receive(struct flows *flows, struct peer *peer, const struct flow_record *record)
{
	struct domain *domain = domain_find(flows, record->domain);
	struct counts *counts;

	/* The peer's configuration may be newer or older than ours. */
	if (domain == NULL)
		return true;
	counts = &domain->counts;
	/* A zero from a peer that is not the advertiser does not change who is. */
	if (record->mark == 0 && counts->advertiser != peer)
		return true;
	counts->advertiser = record->mark == 0 ? NULL : peer;
	counts->advertised = record->mark;
	return true;
}

void counts_flow_ended(struct domain *domain)
{
	if (domain->counts.advertised > 0)
		domain->counts.advertised--;
}

void counts_address_gained(struct domain *domain)
{
	struct counts *counts = &domain->counts;

	if (counts->takeover_due_us == 0) {
		counts->takeover_due_us = now_us() + JUDGE_US;
		counts->expected = counts->advertised;
		counts->arrived = 0;
	}
	counts->advertiser = NULL;
	counts->advertised = 0;
}

void counts_reset(struct domain *domain)
{
	struct counts *counts = &domain->counts;

	counts->advertiser = NULL;
	counts->advertised = counts->ticks_short = counts->requests = 0;
	counts->takeover_due_us = counts->request_us = 0;
}

void counts_forget_peer(struct flows *flows, const struct peer *peer)
{
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		if (domain->counts.advertiser == peer)
			counts_reset(domain);
}
