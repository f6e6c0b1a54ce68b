#include "state_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../daemon/directory.h"
#include "../daemon/json.h"
#include "../daemon/text.h"

#define TOLD 100
#define MAX_BYTES (1 << 20)
#define MAX_VALUES 16384

static const char *const STATES[] = {"backup", "master", "fault", "stopped"};
static const char *const REASONS[] = {"vrrp", "frozen", "conflict", "stop"};

static void put_shard(struct buf *out, size_t number, const struct shard *shard)
{
	text_put(out, "{\"shard\":%zu,\"state\":\"%s\",\"told\":\"%s\",\"sinceMs\":%" PRId64 ",\"takeovers\":%" PRIu64 ",\"lastMove\":", number,
	    STATES[shard->state], STATES[shard->told], shard->since_ms, shard->takeovers);
	if (!shard->last.any) {
		text_put(out, "null}");
		return;
	}
	text_put(out, "{\"to\":\"%s\",\"atMs\":%" PRId64 ",\"reason\":\"%s\",\"addresses\":%" PRIu32 ",\"tookUs\":%" PRIu64 ",\"silentUs\":",
	    STATES[shard->last.to], shard->last.at_ms, REASONS[shard->last.reason], shard->last.addresses, shard->last.took_us);
	if (shard->last.silent_us < 0)
		text_put(out, "null}}");
	else
		text_put(out, "%" PRId64 "}}", shard->last.silent_us);
}

static void put_failures(struct buf *out, const struct table *table)
{
	const char *comma = "";
	size_t told = 0;

	for (size_t i = 0; i < table->bad_count && told < TOLD; i++, told++, comma = ",")
		text_put(out, "%s{\"address\":\"line %" PRIu32 "\",\"error\":\"%s\"}", comma, table->bad[i].line, table->bad[i].error);
	for (size_t i = 0; i < table->count && told < TOLD; i++) {
		const struct entry *entry = &table->entries[i];
		const char *name = entry->err == 0 ? NULL : strerrorname_np(entry->err);
		char text[ADDRESS_TEXT];
		if (entry->err == 0)
			continue;
		text_put(out, "%s{\"address\":\"%s\",\"error\":\"%s\"}", comma,
		    address_print(text, entry->address.family, entry->address.bytes), name == NULL ? "EIO" : name);
		comma = ",";
		told++;
	}
}

static void put_state(struct buf *out, const struct mover *mover)
{
	const char *comma = "";

	text_put(out, "{\"pid\":%d,\"keepalived\":{\"pid\":%d,\"start\":\"%s\"},\"generation\":%" PRIu64 ",\"shards\":[", (int)getpid(),
	    (int)mover->keepalived.pid, mover->keepalived.start, mover->generation_done);
	for (size_t i = 0; i < SHARDS; i++) {
		if (!mover->shards[i].known)
			continue;
		text_put(out, "%s", comma);
		put_shard(out, i, &mover->shards[i]);
		comma = ",";
	}
	text_put(out, "],\"failed\":[");
	put_failures(out, &mover->table);
	text_put(out, "],\"swept\":%" PRIu64 ",\"conflicts\":%" PRIu64 "}\n", mover->swept, mover->conflicts);
}

void state_write(struct mover *mover)
{
	struct buf out = {0};

	put_state(&out, mover);
	/* A failed write leaves the old file. The next change tries again. */
	if (directory_write(mover->directory, "state.json", &out))
		mover->changed = false;
	buf_reset(&out, 0);
}

static int64_t number(const struct json *object, const char *name)
{
	const struct json *value = json_member(object, name);
	return value != NULL && value->type == JSON_NUMBER ? value->number : 0;
}

/* -1 when the member is absent or null. */
static int64_t optional(const struct json *object, const char *name)
{
	const struct json *value = json_member(object, name);
	return value != NULL && value->type == JSON_NUMBER ? value->number : -1;
}

/* The index of a member's text in a list of words; -1 if it is not in it. */
static int word(const struct json *object, const char *name, const char *const *words, size_t count)
{
	const struct json *value = json_member(object, name);

	for (size_t i = 0; i < count; i++)
		if (value != NULL && value->type == JSON_STRING && strcmp(value->text, words[i]) == 0)
			return (int)i;
	return -1;
}

static void inherit_shard(struct mover *mover, const struct json *item, bool same)
{
	int64_t index = number(item, "shard");
	const struct json *last = json_member(item, "lastMove");
	int told = word(item, "told", STATES, 4), to, reason;
	struct shard *shard;

	if (index < 0 || index >= SHARDS || told < 0)
		return;
	shard = &mover->shards[index];
	shard->takeovers = (uint64_t)number(item, "takeovers");
	if (same) {
		shard->known = true;
		shard->state = shard->told = (enum state)told;
		shard->since_ms = number(item, "sinceMs");
	}
	to = last == NULL ? -1 : word(last, "to", STATES, 4);
	reason = last == NULL ? -1 : word(last, "reason", REASONS, 4);
	if (to >= 0 && reason >= 0)
		shard->last = (struct move){.any = true,
					    .to = (enum state)to,
					    .reason = (enum reason)reason,
					    .at_ms = number(last, "atMs"),
					    .addresses = (uint32_t)number(last, "addresses"),
					    .took_us = (uint64_t)number(last, "tookUs"),
					    .silent_us = optional(last, "silentUs")};
}

static bool same_keepalived(const struct mover *mover, const struct json *state)
{
	const struct json *told = json_member(state, "keepalived"), *start;

	if (told == NULL || mover->keepalived.fd < 0 || mover->keepalived.start[0] == '\0')
		return false;
	start = json_member(told, "start");
	return number(told, "pid") == mover->keepalived.pid && start != NULL && start->type == JSON_STRING &&
	       strcmp(start->text, mover->keepalived.start) == 0;
}

void state_inherit(struct mover *mover)
{
	struct json_arena arena = json_arena_new(MAX_VALUES);
	const struct json *state, *shards, *item;
	char *text = directory_read(mover->directory, "state.json", MAX_BYTES);
	size_t len = text == NULL ? 0 : strlen(text);
	const char *error;

	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	state = len > 0 ? json_parse(&arena, text, len, &error) : NULL;
	if (state != NULL && state->type == JSON_OBJECT) {
		shards = json_member(state, "shards");
		for (item = shards == NULL ? NULL : shards->child; item != NULL; item = item->next)
			if (item->type == JSON_OBJECT)
				inherit_shard(mover, item, same_keepalived(mover, state));
	}
	free(text);
	free(arena.values);
}
