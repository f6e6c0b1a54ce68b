#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "../daemon/directory.h"
#include "../daemon/text.h"
#include "place.h"

#define MAX_BYTES (64 << 20)
#define FIELDS 4

/* Returns what is wrong with the line; NULL if it is valid. */
static const char *read_entry(struct mover *mover, struct table *table, char **fields)
{
	struct entry *entry = &table->entries[table->count];
	uint64_t shard;

	if (!text_number(fields[0], 0, SHARDS - 1, &shard))
		return "shard is not a number from 0 to 255";
	if (!address_parse(&entry->address, fields[1]))
		return "not an address";
	if (strcmp(fields[2], "-") != 0 && fields[2][0] != '/')
		return "the namespace is neither - nor an absolute path";
	if (fields[3][0] == '\0' || strlen(fields[3]) >= IFNAMSIZ)
		return "not an interface name";
	entry->shard = (uint8_t)shard;
	entry->place = place_find(mover, fields[2][0] == '-' ? NULL : fields[2], fields[3]);
	table->count++;
	return NULL;
}

static const char *read_router(struct table *table, char **fields)
{
	uint64_t shard, vrid;

	if (!text_number(fields[1], 0, SHARDS - 1, &shard))
		return "shard is not a number from 0 to 255";
	if (!text_number(fields[2], 1, 255, &vrid))
		return "the router id is not a number from 1 to 255";
	table->vrids[shard] = (uint8_t)vrid;
	return NULL;
}

static const char *read_freeze(struct table *table, char **fields)
{
	uint64_t milliseconds;

	if (!text_number(fields[1], 0, 3600000, &milliseconds))
		return "freeze is not a number of milliseconds";
	table->freeze_us = milliseconds * 1000;
	return NULL;
}

static const char *read_line(struct mover *mover, struct table *table, char *line)
{
	char *fields[FIELDS];
	size_t count = text_split(line, fields, FIELDS);

	if (count == 2 && strcmp(fields[0], "freeze") == 0)
		return read_freeze(table, fields);
	if (count == 3 && strcmp(fields[0], "router") == 0)
		return read_router(table, fields);
	return count == FIELDS ? read_entry(mover, table, fields) : "not `<shard> <address> <namespace> <interface>`";
}

static void complain(struct table *table, uint32_t line, const char *error)
{
	if (table->bad_count < BAD_LINES)
		table->bad[table->bad_count++] = (struct bad_line){.line = line, .error = error};
}

int entry_compare(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	if (a->place != b->place)
		return a->place->number < b->place->number ? -1 : 1;
	if (a->address.family != b->address.family)
		return a->address.family - b->address.family;
	return memcmp(a->address.bytes, b->address.bytes, address_len(a->address.family));
}

/* Sorts, and keeps the first of lines that name the same address in the same place. */
static void sort(struct table *table)
{
	size_t kept = 0;

	qsort(table->entries, table->count, sizeof(*table->entries), entry_compare);
	for (size_t i = 0; i < table->count; i++) {
		struct entry *entry = &table->entries[i];
		if (kept > 0 && entry_compare(entry, &table->entries[kept - 1]) == 0) {
			complain(table, 0, "an address is given twice for one interface");
			continue;
		}
		table->entries[kept++] = *entry;
		entry->place->entries++;
	}
	table->count = kept;
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	while ((text = strchr(text, '\n')) != NULL) {
		lines++;
		text++;
	}
	return lines;
}

bool table_read(struct mover *mover, struct table *out)
{
	char *text = directory_read(mover->directory, "addresses", MAX_BYTES), *next = text;
	uint32_t number = 0;

	*out = (struct table){0};
	if (text == NULL)
		return false;
	out->entries = memory_new(count_lines(text) * sizeof(*out->entries));
	while (next != NULL) {
		char *line = next;
		const char *error = NULL;
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		number++;
		if (number == 1) {
			if (strncmp(line, "generation ", 11) != 0 || !text_number(line + 11, 0, INT64_MAX, &out->generation)) {
				free(text);
				table_free(out);
				return false;
			}
		} else if (*line != '\0') {
			error = read_line(mover, out, line);
		}
		if (error != NULL)
			complain(out, number, error);
	}
	free(text);
	sort(out);
	return true;
}

void table_free(struct table *table)
{
	free(table->entries);
	*table = (struct table){0};
}
