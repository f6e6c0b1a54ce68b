#include "json.h"

#include <string.h>

#include "memory.h"

#define MAX_DEPTH 8

struct parser {
	struct json_arena *arena;
	char *at;
	char *end;
	const char *error;
};

static struct json *parse_value(struct parser *parser, int depth);

struct json_arena json_arena_new(size_t values)
{
	/* Pages that are never used cost nothing. */
	return (struct json_arena){.values = memory_new(values * sizeof(struct json)), .cap = values};
}

static struct json *refuse(struct parser *parser, const char *why)
{
	if (parser->error == NULL)
		parser->error = why;
	return NULL;
}

static struct json *new_value(struct parser *parser, enum json_type type)
{
	struct json *value;

	if (parser->arena->used == parser->arena->cap)
		return refuse(parser, "too many values");
	value = &parser->arena->values[parser->arena->used++];
	*value = (struct json){.type = type};
	return value;
}

static void skip_space(struct parser *parser)
{
	while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r' || *parser->at == '\n')
		parser->at++;
}

static bool take(struct parser *parser, char character)
{
	skip_space(parser);
	if (*parser->at != character)
		return false;
	parser->at++;
	return true;
}

static bool parse_hex4(struct parser *parser, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		char c = *parser->at;
		uint32_t digit;
		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (uint32_t)((c | 32) - 'a' + 10);
		else
			return false;
		*out = *out << 4 | digit;
		parser->at++;
	}
	return true;
}

static bool parse_unicode_escape(struct parser *parser, char **out)
{
	uint32_t code, low;
	char *to = *out;

	if (!parse_hex4(parser, &code) || code == 0 || (code >= 0xdc00 && code <= 0xdfff))
		return false;
	if (code >= 0xd800 && code <= 0xdbff) {
		if (parser->at[0] != '\\' || parser->at[1] != 'u')
			return false;
		parser->at += 2;
		if (!parse_hex4(parser, &low) || low < 0xdc00 || low > 0xdfff)
			return false;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 63));
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	}
	*out = to;
	return true;
}

static bool parse_escape(struct parser *parser, char **out)
{
	static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
	char letter = *parser->at;
	const char *found;

	if (letter == 'u') {
		parser->at++;
		return parse_unicode_escape(parser, out);
	}
	found = letter == '\0' ? NULL : strchr(FROM, letter);
	if (found == NULL)
		return false;
	parser->at++;
	*(*out)++ = TO[found - FROM];
	return true;
}

/* Called after the opening quote. An escape is never shorter than what it stands for, so the string is unescaped in place. */
static bool parse_string(struct parser *parser, char **text, size_t *len)
{
	char *to = parser->at;

	*text = to;
	for (;;) {
		/* Strings without escapes, such as base64, are left where they are. */
		char *from = parser->at;
		size_t run;

		while (*parser->at != '"' && *parser->at != '\\' && (uint8_t)*parser->at >= 0x20)
			parser->at++;
		run = (size_t)(parser->at - from);
		if (to != from)
			memmove(to, from, run);
		to += run;

		if (*parser->at == '"')
			break;
		if (*parser->at != '\\') {
			refuse(parser, parser->at == parser->end ? "string without end" : "control character in a string");
			return false;
		}
		parser->at++;
		if (!parse_escape(parser, &to)) {
			refuse(parser, "bad escape in a string");
			return false;
		}
	}
	parser->at++;
	*to = '\0';
	*len = (size_t)(to - *text);
	return true;
}

static struct json *parse_number(struct parser *parser)
{
	struct json *value = new_value(parser, JSON_NUMBER);
	bool negative = *parser->at == '-';
	uint64_t magnitude = 0;
	char *first;

	if (value == NULL)
		return NULL;
	if (negative)
		parser->at++;
	first = parser->at;
	while (*parser->at >= '0' && *parser->at <= '9') {
		if (parser->at - first == 18)
			return refuse(parser, "number too large");
		magnitude = magnitude * 10 + (uint64_t)(*parser->at++ - '0');
	}
	if (parser->at == first || (*first == '0' && parser->at - first > 1))
		return refuse(parser, "bad number");
	if (*parser->at == '.' || *parser->at == 'e' || *parser->at == 'E')
		return refuse(parser, "number that is no integer");
	value->number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return value;
}

static struct json *parse_word(struct parser *parser, const char *word, enum json_type type)
{
	size_t len = strlen(word);

	if (strncmp(parser->at, word, len) != 0)
		return refuse(parser, "unknown word");
	parser->at += len;
	return new_value(parser, type);
}

static struct json *parse_items(struct parser *parser, enum json_type type, int depth)
{
	char close = type == JSON_OBJECT ? '}' : ']';
	struct json *container = new_value(parser, type);
	struct json **link;

	if (container == NULL)
		return NULL;
	link = &container->child;
	if (take(parser, close))
		return container;
	do {
		char *key = NULL;
		size_t key_len;
		if (type == JSON_OBJECT) {
			if (!take(parser, '"'))
				return refuse(parser, "member without a name");
			if (!parse_string(parser, &key, &key_len))
				return NULL;
			if (!take(parser, ':'))
				return refuse(parser, "member without a value");
		}
		*link = parse_value(parser, depth + 1);
		if (*link == NULL)
			return NULL;
		(*link)->key = key;
		link = &(*link)->next;
	} while (take(parser, ','));
	return take(parser, close) ? container : refuse(parser, "array or object without end");
}

static struct json *parse_value(struct parser *parser, int depth)
{
	struct json *value;

	if (depth > MAX_DEPTH)
		return refuse(parser, "nested too deeply");
	skip_space(parser);
	switch (*parser->at) {
	case '{':
		parser->at++;
		return parse_items(parser, JSON_OBJECT, depth);
	case '[':
		parser->at++;
		return parse_items(parser, JSON_ARRAY, depth);
	case '"':
		parser->at++;
		value = new_value(parser, JSON_STRING);
		return value != NULL && parse_string(parser, &value->text, &value->len) ? value : NULL;
	case 't':
		return parse_word(parser, "true", JSON_TRUE);
	case 'f':
		return parse_word(parser, "false", JSON_FALSE);
	case 'n':
		return parse_word(parser, "null", JSON_NULL);
	default:
		return parse_number(parser);
	}
}

struct json *json_parse(struct json_arena *arena, char *text, size_t len, const char **error)
{
	struct parser parser = {.arena = arena, .at = text, .end = text + len};
	struct json *value;

	arena->used = 0;
	value = parse_value(&parser, 0);
	if (value != NULL) {
		skip_space(&parser);
		if (parser.at != parser.end)
			value = refuse(&parser, "text after the value");
	}
	*error = parser.error;
	return value;
}

struct json *json_member(const struct json *object, const char *name)
{
	for (struct json *member = object->child; member != NULL; member = member->next)
		if (strcmp(member->key, name) == 0)
			return member->type == JSON_NULL ? NULL : member;
	return NULL;
}
