#include "notify.h"

#include <stdlib.h>
#include <string.h>

/* keepalived's lines are short. A longer one is invalid. */
#define MAX_LINE 512

static const struct {
	const char *word;
	enum state state;
} WORDS[] = {{"MASTER", STATE_MASTER}, {"BACKUP", STATE_BACKUP}, {"FAULT", STATE_FAULT}, {"STOP", STATE_STOPPED},
	     {"DELETED", STATE_STOPPED}};

static bool change(struct mover *mover, size_t number, enum state to)
{
	struct shard *shard = &mover->shards[number];

	if (shard->known && shard->state == to)
		return false;
	shard->known = true;
	mover->changed = true;
	if (shard->state == to)
		return false;
	shard->moving = shard->moving || shard->state == STATE_MASTER || to == STATE_MASTER;
	shard->silent_us = to == STATE_MASTER && shard->heard_us != 0 ? (int64_t)(now_us() - shard->heard_us) : -1;
	shard->state = to;
	shard->since_ms = epoch_ms();
	if (to == STATE_MASTER)
		shard->takeovers++;
	else
		shard->reannounce_us = 0;
	return true;
}

static bool told(struct mover *mover, size_t number, enum state to)
{
	mover->changed = mover->changed || mover->shards[number].told != to;
	mover->shards[number].told = to;
	return change(mover, number, to);
}

static bool take_line(struct mover *mover, char *line)
{
	static const char BEGIN[] = "INSTANCE \"shard";
	unsigned long number;
	size_t len;
	char *end;

	if (strncmp(line, BEGIN, sizeof(BEGIN) - 1) != 0)
		return false;
	line += sizeof(BEGIN) - 1;
	if (*line < '0' || *line > '9')
		return false;
	number = strtoul(line, &end, 10);
	if (number >= SHARDS || strncmp(end, "\" ", 2) != 0)
		return false;
	line = end + 2;
	len = strcspn(line, " ");
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
		if (strlen(WORDS[i].word) == len && memcmp(line, WORDS[i].word, len) == 0)
			return told(mover, number, WORDS[i].state);
	return false;
}

bool notify_receive(struct mover *mover, const void *data, size_t len)
{
	struct buf *text = &mover->notifications;
	size_t start = 0;
	bool changed = false;
	uint8_t *newline;

	buf_put(text, data, len);
	while ((newline = memchr(text->data + start, '\n', text->len - start)) != NULL) {
		*newline = '\0';
		changed = take_line(mover, (char *)text->data + start) || changed;
		start = (size_t)(newline - text->data) + 1;
	}
	buf_consume(text, start);
	if (text->len > MAX_LINE)
		buf_reset(text, MAX_LINE);
	return changed;
}

bool shards_change(struct mover *mover, enum state from, enum state to)
{
	bool changed = false;

	for (size_t i = 0; i < SHARDS; i++)
		if (mover->shards[i].known && mover->shards[i].state == from)
			changed = change(mover, i, to) || changed;
	return changed;
}
