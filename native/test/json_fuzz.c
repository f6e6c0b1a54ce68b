/*
 * Mutates the seeds of testdata/json and parses the results. The sanitizers check memory accesses. This program checks
 * that a tree points only into its line, and that its canonical form parses to the same tree.
 *
 * json_fuzz [DIR [MUTATIONS [SEED]]]      run in native/, where DIR is test/testdata/json
 *
 * The same seed gives the same lines. A failing line is printed.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../daemon/json.h"
#include "../daemon/text.h"

#define SEEDS "test/testdata/json"
#define MOST_SEEDS 64
#define MOST_BYTES 4096
#define MUTATIONS 60000
#define VALUES 512
#define LARGEST_CHANGE 6

struct line {
	size_t len;
	char bytes[MOST_BYTES + 1];
};

static struct line seeds[MOST_SEEDS];
static size_t seed_count;
static uint64_t state;
static const struct line *input;

/* xorshift64*. */
static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ull;
}

static size_t below(size_t most)
{
	return (size_t)(next() % most);
}

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "json_fuzz: %s, for this line:\n", what);
	fwrite(input->bytes, 1, input->len, stderr);
	fputc('\n', stderr);
	abort();
}

static void read_seeds(const char *directory)
{
	struct dirent *entry;
	DIR *listing = opendir(directory);
	char path[512];

	while (listing != NULL && (entry = readdir(listing)) != NULL && seed_count < MOST_SEEDS) {
		struct line *seed = &seeds[seed_count];
		FILE *file;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		file = fopen(path, "re");
		if (file == NULL)
			continue;
		seed->len = fread(seed->bytes, 1, MOST_BYTES, file);
		fclose(file);
		seed_count++;
	}
	if (listing != NULL)
		closedir(listing);
}

/* Bytes that the parser distinguishes; random bytes would cover little of it. */
static char token(void)
{
	static const char TOKENS[] = "{}[]\":,\\u0123456789-+.eEtrufalsn \t\r\x01\x7f\x80\xff/";

	return below(8) == 0 ? (char)next() : TOKENS[below(sizeof(TOKENS))];
}

/* Replaces `gone` bytes at `at` by `bytes`. */
static void splice(struct line *line, size_t at, size_t gone, const char *bytes, size_t len)
{
	if (line->len - gone + len > MOST_BYTES)
		return;
	memmove(line->bytes + at + len, line->bytes + at + gone, line->len - at - gone);
	memcpy(line->bytes + at, bytes, len);
	line->len = line->len - gone + len;
}

static void mutate(struct line *line)
{
	const struct line *other = &seeds[below(seed_count)];
	size_t at = below(line->len + 1), left = line->len - at;
	char byte = token();

	switch (below(6)) {
	case 0: /* one byte more */
		splice(line, at, 0, &byte, 1);
		break;
	case 1: /* one byte another */
		if (left > 0)
			splice(line, at, 1, &byte, 1);
		break;
	case 2: /* some bytes less */
		if (left > 0)
			splice(line, at, 1 + below(left), "", 0);
		break;
	case 3: { /* a part twice */
		char part[MOST_BYTES];
		size_t len = left == 0 ? 0 : 1 + below(left);
		memcpy(part, line->bytes + at, len);
		splice(line, at, 0, part, len);
		break;
	}
	case 4: /* a part of another seed */
		if (other->len > 0) {
			size_t from = below(other->len), len = 1 + below(other->len - from);
			splice(line, at, 0, other->bytes + from, len);
		}
		break;
	default: /* cut short */
		line->len = at;
	}
}

static void print_string(struct buf *out, const char *text, size_t len)
{
	text_put(out, "\"");
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)text[i];
		if (byte == '"' || byte == '\\' || byte < 0x20)
			text_put(out, "\\u%04x", byte);
		else
			buf_put(out, &byte, 1);
	}
	text_put(out, "\"");
}

/* Formats the value in canonical form. Checks that all of it is in the line. */
static void print(struct buf *out, const struct json *value, const char *line, size_t len)
{
	static const char *const WORDS[] = {[JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};
	bool object = value->type == JSON_OBJECT;

	switch (value->type) {
	case JSON_NUMBER:
		text_put(out, "%" PRId64, value->number);
		break;
	case JSON_STRING:
		require(value->text >= line && value->text + value->len < line + len, "a string lies outside of the line");
		require(strlen(value->text) == value->len, "a string holds NUL or has another length");
		print_string(out, value->text, value->len);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		text_put(out, object ? "{" : "[");
		for (const struct json *child = value->child; child != NULL; child = child->next) {
			require((child->key != NULL) == object, "a member without a name, or an item with one");
			if (object) {
				require(child->key >= line && child->key < line + len, "a name lies outside of the line");
				print_string(out, child->key, strlen(child->key));
				text_put(out, ":");
			}
			print(out, child, line, len);
			if (child->next != NULL)
				text_put(out, ",");
		}
		text_put(out, object ? "}" : "]");
		break;
	default:
		text_put(out, "%s", WORDS[value->type]);
	}
}

/* Parses a copy of exactly that size, so that the sanitizer detects a read beyond it. True if it is JSON. */
static bool parse(struct json_arena *arena, const char *text, size_t len, struct buf *canonical)
{
	char *copy = malloc(len + 1);
	const char *error = NULL;
	struct json *value;

	memcpy(copy, text, len);
	copy[len] = '\0';
	value = json_parse(arena, copy, len, &error);
	require((value == NULL) == (error != NULL), "an error without a reason, or a reason without one");
	if (value != NULL)
		print(canonical, value, copy, len);
	free(copy);
	return value != NULL;
}

/* True when it is JSON. */
static bool try(struct json_arena *arena, const struct line *line)
{
	struct buf once = {0}, twice = {0};
	bool is_json;

	input = line;
	is_json = parse(arena, line->bytes, line->len, &once);
	if (is_json) {
		require(parse(arena, (const char *)once.data, once.len, &twice), "its canonical text is refused");
		require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0, "read again it is another");
	}
	buf_reset(&once, 0);
	buf_reset(&twice, 0);
	return is_json;
}

int main(int argc, char **argv)
{
	size_t mutations = argc > 2 ? strtoul(argv[2], NULL, 10) : MUTATIONS, taken = 0;
	struct json_arena arena = json_arena_new(VALUES);

	state = argc > 3 ? strtoull(argv[3], NULL, 10) | 1 : 88172645463325252ull;
	read_seeds(argc > 1 ? argv[1] : SEEDS);
	if (seed_count == 0) {
		fprintf(stderr, "usage: json_fuzz [DIR [MUTATIONS [SEED]]], with seeds in DIR\n");
		return 2;
	}
	for (size_t i = 0; i < seed_count; i++)
		try(&arena, &seeds[i]);
	for (size_t i = 0; i < mutations; i++) {
		struct line line = seeds[below(seed_count)];
		for (size_t change = below(LARGEST_CHANGE) + 1; change > 0; change--)
			mutate(&line);
		taken += try(&arena, &line);
	}
	/* If all lines or none are refused, the mutations test nothing. */
	if (mutations >= MUTATIONS && (taken < mutations / 100 || taken > mutations / 2)) {
		fprintf(stderr, "json_fuzz: %zu of %zu lines were JSON\n", taken, mutations);
		return 1;
	}
	free(arena.values);
	return 0;
}
