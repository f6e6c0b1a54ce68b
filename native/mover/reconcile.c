#include "reconcile.h"

#include <stdlib.h>

#include "adopt.h"
#include "adverts.h"
#include "announce_vips.h"
#include "bind.h"
#include "place.h"
#include "proxied.h"
#include "table.h"

#define RETRY_US 1000000

bool is_master(const struct mover *mover, const struct entry *entry)
{
	return mover->shards[entry->shard].state == STATE_MASTER;
}

bool masters_any(const struct mover *mover)
{
	for (size_t i = 0; i < SHARDS; i++)
		if (mover->shards[i].state == STATE_MASTER)
			return true;
	return false;
}

/* A step for at most BATCH addresses of one place. */
enum step { UNBIND, BIND, BIND_AND_ANNOUNCE, ANNOUNCE };

struct run {
	struct entry *entries[BATCH];
	size_t count;
	enum step step;
};

/* Keeps the entries that reached the wanted state. */
static void bind_run(struct mover *mover, struct run *run)
{
	bool bind = run->step != UNBIND;
	size_t kept = 0;

	bind_addresses(run->entries[0]->place, run->entries, run->count, bind);
	for (size_t i = 0; i < run->count; i++) {
		struct entry *entry = run->entries[i];
		if (entry->bound != bind)
			continue;
		mover->shards[entry->shard].moved++;
		run->entries[kept++] = entry;
	}
	run->count = kept;
}

static void flush(struct mover *mover, struct run *run)
{
	if (run->count == 0)
		return;
	if (run->step != ANNOUNCE)
		bind_run(mover, run);
	/* The first addresses are announced while the last are not yet bound. */
	if (run->count > 0 && (run->step == ANNOUNCE || run->step == BIND_AND_ANNOUNCE))
		announce_begin(mover, run->entries[0]->place, run->entries, run->count);
	run->count = 0;
}

static void add(struct mover *mover, struct run *run, struct entry *entry)
{
	if (run->count == BATCH || (run->count > 0 && run->entries[0]->place != entry->place))
		flush(mover, run);
	run->entries[run->count++] = entry;
}

static void unbind_others(struct mover *mover)
{
	struct run run = {.step = UNBIND};

	for (size_t i = 0; i < mover->table.count; i++) {
		struct entry *entry = &mover->table.entries[i];
		if (is_master(mover, entry))
			continue;
		entry->due_us = 0;
		entry->err = 0;
		if (entry->bound)
			add(mover, &run, entry);
	}
	flush(mover, &run);
}

/* Applies a step to each address of the family that should be bound in this way and is not. */
static void take_step(struct mover *mover, int family, bool proxied, enum step step)
{
	struct run run = {.step = step};
	struct place *place = NULL;
	bool ready = false;

	for (size_t i = 0; i < mover->table.count; i++) {
		struct entry *entry = &mover->table.entries[i];
		if (entry->address.family != family || !is_master(mover, entry) || entry->bound)
			continue;
		if (entry->place != place) {
			place = entry->place;
			ready = place_ready(place);
			if (proxied)
				place->proxies = ready && proxied_possible(place);
		}
		if (!ready)
			entry->err = place->err;
		else if (family == AF_INET || place->proxies == proxied)
			add(mover, &run, entry);
	}
	flush(mover, &run);
}

/*
 * Addresses are bound, then announced. IPv6 addresses that cannot be proxied are announced first, because binding a thousand
 * may take seconds: traffic arrives and is steered from the announcement on, and the address itself answers once it is bound.
 */
static void bind_ours(struct mover *mover)
{
	take_step(mover, AF_INET, false, BIND_AND_ANNOUNCE);
	take_step(mover, AF_INET6, true, BIND_AND_ANNOUNCE);
	take_step(mover, AF_INET6, false, ANNOUNCE);
	take_step(mover, AF_INET6, false, BIND);
}

static bool failed_any(const struct mover *mover)
{
	for (size_t i = 0; i < mover->table.count; i++)
		if (mover->table.entries[i].err != 0)
			return true;
	return false;
}

/* keepalived gives no reason. Some can be inferred. */
static enum reason why(const struct shard *shard, enum reason reason)
{
	if (reason != REASON_VRRP || shard->state == STATE_MASTER)
		return reason;
	if (shard->state == STATE_STOPPED)
		return REASON_STOP;
	return adverts_contested(shard) ? REASON_CONFLICT : REASON_VRRP;
}

static void note_moves(struct mover *mover, enum reason reason, uint64_t since_us)
{
	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *shard = &mover->shards[i];
		if (shard->moving)
			shard->last = (struct move){.any = true,
						    .to = shard->state,
						    .reason = why(shard, reason),
						    .at_ms = shard->since_ms,
						    .addresses = shard->moved,
						    .took_us = now_us() - since_us,
						    .silent_us = shard->silent_us};
		shard->moving = false;
		shard->moved = 0;
	}
}

void reconcile(struct mover *mover, enum reason reason, uint64_t since_us)
{
	unbind_others(mover);
	bind_ours(mover);
	note_moves(mover, reason, since_us);
	mover->retry_us = failed_any(mover) ? now_us() + RETRY_US : 0;
	mover->generation_done = mover->table.generation;
	mover->changed = true;
}

/* Copies the state of addresses that are in both tables, and unbinds the others of the old one. */
static void merge(struct mover *mover, struct table *old, struct table *table)
{
	struct run run = {.step = UNBIND};
	size_t at = 0;

	for (size_t i = 0; i < old->count; i++) {
		struct entry *entry = &old->entries[i];
		while (at < table->count && entry_compare(&table->entries[at], entry) < 0)
			at++;
		if (at < table->count && entry_compare(&table->entries[at], entry) == 0) {
			uint8_t shard = table->entries[at].shard;
			table->entries[at] = *entry;
			table->entries[at].shard = shard;
		} else if (entry->bound) {
			add(mover, &run, entry);
		}
	}
	flush(mover, &run);
}

static void name_shards(struct mover *mover)
{
	for (size_t i = 0; i < SHARDS; i++) {
		mover->shards[i].vrid = mover->table.vrids[i];
		if (mover->table.vrids[i] != 0)
			mover->shards[i].known = true;
	}
	for (size_t i = 0; i < mover->table.count; i++)
		mover->shards[mover->table.entries[i].shard].known = true;
}

void reconcile_table(struct mover *mover, struct table *table)
{
	struct table old = mover->table;

	reconcile_places(mover);
	merge(mover, &old, table);
	mover->table = *table;
	for (size_t i = 0; i < old.count; i++)
		old.entries[i].place->entries--;
	table_free(&old);
	places_drop_unused(mover);
	name_shards(mover);
}

void reconcile_adopt(struct mover *mover)
{
	struct table *table = &mover->table;

	for (size_t from = 0, to; from < table->count; from = to) {
		struct place *place = table->entries[from].place;
		for (to = from; to < table->count && table->entries[to].place == place; to++)
			;
		if (place_ready(place))
			mover->swept += adopt_place(place, table->entries + from, to - from);
	}
	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].bound && !is_master(mover, &table->entries[i]))
			mover->swept++;
}

bool reconcile_places(struct mover *mover)
{
	struct place *place = NULL;
	bool anew = false, same = true;

	for (size_t i = 0; i < mover->table.count; i++) {
		struct entry *entry = &mover->table.entries[i];
		if (entry->place != place) {
			place = entry->place;
			same = place_same(place);
			if (!same)
				place_close(place);
		}
		/* Its addresses went with the interface. */
		if (!same) {
			anew = anew || is_master(mover, entry);
			entry->bound = false;
			entry->due_us = 0;
		}
	}
	return anew;
}
