/*
 * One line of JSON as a tree, parsed in place: strings stay where they are in the line, unescaped and ended by NUL.
 * Strict RFC 8259 with the limits of our protocol: numbers are integers of 64 bits, no string holds NUL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_type type;
	const char *key; /* of a member of an object */
	char *text;	 /* of a string; writable */
	size_t len;
	int64_t number;
	struct json *child; /* the first of an array or object */
	struct json *next;
};

/* The memory of the values of one line's tree. The next line reuses it. */
struct json_arena {
	struct json *values;
	size_t used;
	size_t cap;
};

struct json_arena json_arena_new(size_t values);
/* Parses `text`, which is changed and must end with NUL. NULL, with the reason in `error`, if it is not valid JSON. */
struct json *json_parse(struct json_arena *arena, char *text, size_t len, const char **error);
/* The member of that name, NULL when absent or null. */
struct json *json_member(const struct json *object, const char *name);
