#include "promise.h"

#include "domain.h"
#include "tell.h"

/* A count and the flows that it is about leave one after the other, and one of either may be on its way. */
#define TICKS_SHORT 2
#define ASK_AGAIN_US (5 * US_PER_S)
/* All that is carried is told about as often in any case. */
#define MOST_DOUBLED 4
/* Addresses of one shard come one after the other. */
#define JUDGE_US US_PER_S
#define ZERO_FOR_US (10 * US_PER_S)

static bool holds_any(const struct domain *domain)
{
	for (size_t i = 0; i < domain->shared_count; i++)
		if (domain->held[i])
			return true;
	return false;
}

static void tell(struct flows *flows, struct domain *domain, uint64_t now)
{
	const struct flow_record count = {.family = AF_INET, .domain = domain->number, .mark = (uint32_t)domain->local};

	if (domain->local > 0)
		domain->counted_us = now;
	/* While a peer is being told all, it knows less than the count. */
	if (domain->counted_us != 0 && flows->tell_us == 0 && now - domain->counted_us <= ZERO_FOR_US)
		tell_change(flows, RECORD_COUNT, &count);
}

static void ask(struct flows *flows, struct domain *domain, uint64_t now)
{
	struct promise *promise = &domain->promise;

	if (promise->peer == NULL || domain->remote >= promise->count || holds_any(domain)) {
		promise->short_of = promise->asked = 0;
		return;
	}
	if (++promise->short_of < TICKS_SHORT || now < promise->again_us)
		return;
	tell_ask(flows, domain);
	promise->again_us = now + (ASK_AGAIN_US << promise->asked);
	if (promise->asked < MOST_DOUBLED)
		promise->asked++;
}

/* Flows that end while the address comes are none that were missed: half of them is no such accident. */
static void judge(struct promise *promise)
{
	if (promise->came < promise->expected - promise->expected / 2) {
		promise->missed += promise->expected - promise->came;
		promise->missed_ms = epoch_ms();
		promise->missed_of = promise->expected;
		promise->missed_came = promise->came;
	}
	promise->judged_us = 0;
}

void promise_tick(struct flows *flows, struct domain *domain)
{
	uint64_t now = now_us();

	if (domain->event_fd < 0)
		return;
	tell(flows, domain, now);
	ask(flows, domain, now);
	if (domain->promise.judged_us != 0 && domain->promise.judged_us <= now)
		judge(&domain->promise);
}

bool promise_take(struct flows *flows, struct peer *peer, const struct flow_record *record)
{
	struct domain *domain = domain_find(flows, record->domain);
	struct promise *promise;

	/* The peer is ahead of our configuration, or behind. */
	if (domain == NULL)
		return true;
	promise = &domain->promise;
	/* Nothing, said by one that was not believed to carry it, is no news of who does. */
	if (record->mark == 0 && promise->peer != peer)
		return true;
	promise->peer = record->mark == 0 ? NULL : peer;
	promise->count = record->mark;
	return true;
}

void promise_less(struct domain *domain)
{
	if (domain->promise.count > 0)
		domain->promise.count--;
}

void promise_due(struct domain *domain)
{
	struct promise *promise = &domain->promise;

	if (promise->judged_us == 0) {
		promise->judged_us = now_us() + JUDGE_US;
		promise->expected = promise->count;
		promise->came = 0;
	}
	promise->peer = NULL;
	promise->count = 0;
}

void promise_break(struct domain *domain)
{
	struct promise *promise = &domain->promise;

	promise->peer = NULL;
	promise->count = promise->short_of = promise->asked = 0;
	promise->judged_us = promise->again_us = 0;
}

void promise_forget(struct flows *flows, const struct peer *peer)
{
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		if (domain->promise.peer == peer)
			promise_break(domain);
}
