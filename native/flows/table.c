#include "table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 256

bool tuple_equal(const struct tuple *one, const struct tuple *other)
{
	return one->src.port == other->src.port && one->dst.port == other->dst.port &&
	       memcmp(one->src.bytes, other->src.bytes, 16) == 0 && memcmp(one->dst.bytes, other->dst.bytes, 16) == 0;
}

static uint64_t mix(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * 1099511628211ull;
	return sum;
}

static size_t bucket_of(const struct flow_record *record, size_t buckets)
{
	uint64_t sum = 14695981039346656037ull;

	sum = mix(sum, record->original.src.bytes, 16);
	sum = mix(sum, record->original.dst.bytes, 16);
	sum = mix(sum, &record->original.src.port, 2);
	sum = mix(sum, &record->original.dst.port, 2);
	sum = mix(sum, &record->protocol, 1);
	return (size_t)((sum ^ sum >> 29) & (buckets - 1));
}

struct flow *table_find(const struct domain *domain, const struct flow_record *record)
{
	struct flow *flow;

	if (domain->bucket_count == 0)
		return NULL;
	flow = domain->buckets[bucket_of(record, domain->bucket_count)];
	while (flow != NULL &&
	       (flow->record.family != record->family || flow->record.protocol != record->protocol ||
		!tuple_equal(&flow->record.original, &record->original)))
		flow = flow->next;
	return flow;
}

static void put(struct domain *domain, struct flow *flow)
{
	struct flow **bucket = &domain->buckets[bucket_of(&flow->record, domain->bucket_count)];

	flow->next = *bucket;
	*bucket = flow;
}

/* A table may grow while it is being sent: see `send_some`. */
static void grow(struct domain *domain)
{
	struct flow **before = domain->buckets;
	size_t count = domain->bucket_count;

	domain->bucket_count = count == 0 ? FIRST_BUCKETS : count * 2;
	domain->buckets = memory_new(domain->bucket_count * sizeof(*domain->buckets));
	for (size_t i = 0; i < count; i++)
		for (struct flow *flow = before[i], *next; flow != NULL; flow = next) {
			next = flow->next;
			put(domain, flow);
		}
	free(before);
}

struct flow *table_add(struct domain *domain, const struct flow_record *record)
{
	struct flow *flow = memory_new(sizeof(*flow));

	if (domain->local + domain->remote >= domain->bucket_count)
		grow(domain);
	flow->record = *record;
	flow->record.domain = domain->number;
	put(domain, flow);
	domain->remote++;
	return flow;
}

void table_remove(struct domain *domain, struct flow *flow)
{
	struct flow **link = &domain->buckets[bucket_of(&flow->record, domain->bucket_count)];

	while (*link != flow)
		link = &(*link)->next;
	*link = flow->next;
	--*(flow->local ? &domain->local : &domain->remote);
	free(flow);
}

void table_set_local(struct domain *domain, struct flow *flow, bool local)
{
	if (flow->local == local)
		return;
	--*(flow->local ? &domain->local : &domain->remote);
	++*(local ? &domain->local : &domain->remote);
	flow->local = local;
}

void table_clear(struct domain *domain)
{
	for (size_t i = 0; i < domain->bucket_count; i++)
		for (struct flow *flow = domain->buckets[i], *next; flow != NULL; flow = next) {
			next = flow->next;
			free(flow);
		}
	free(domain->buckets);
	domain->buckets = NULL;
	domain->bucket_count = domain->local = domain->remote = 0;
}
