#include "reply.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base64.h"

static void put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void print(struct buf *out, const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(out, text);
}

static void put_name(struct buf *out, const char *name)
{
	char before = out->data[out->len - 1];

	put(out, before == '{' ? "\"" : ",\"");
	put(out, name);
	put(out, "\":");
}

static void put_string(struct buf *out, const char *text)
{
	put(out, "\"");
	for (const char *at = text; *at != '\0'; at++) {
		uint8_t byte = (uint8_t)*at;
		if (byte == '"' || byte == '\\')
			print(out, "\\%c", byte);
		else if (byte == '\n')
			put(out, "\\n");
		else if (byte < 0x20 || byte == 0x7f)
			print(out, "\\u%04x", byte);
		else if (byte >= 0x80)
			put(out, "?"); /* kernel texts are ASCII; this keeps the line valid UTF-8 whatever comes */
		else
			buf_put(out, at, 1);
	}
	put(out, "\"");
}

static void put_id(struct buf *out, int64_t id)
{
	if (id == NO_REQUEST_ID)
		put(out, "{\"id\":null");
	else
		print(out, "{\"id\":%" PRId64, id);
}

void reply_begin(struct buf *out, int64_t id)
{
	put_id(out, id);
	put(out, ",\"ok\":true");
}

void reply_event(struct buf *out, const char *name)
{
	put(out, "{\"event\":\"");
	put(out, name);
	put(out, "\"");
}

void reply_end(struct buf *out)
{
	put(out, "}\n");
}

void reply_text(struct buf *out, const char *name, const char *text)
{
	put_name(out, name);
	if (text == NULL)
		put(out, "null");
	else
		put_string(out, text);
}

void reply_reason(struct buf *out, int err)
{
	char text[128];

	snprintf(text, sizeof(text), "%s", err == ETIMEDOUT ? "timed out" : strerror(err));
	text[0] = (char)tolower((unsigned char)text[0]);
	reply_text(out, "reason", text);
}

void reply_number(struct buf *out, const char *name, int64_t number)
{
	put_name(out, name);
	print(out, "%" PRId64, number);
}

void reply_flag(struct buf *out, const char *name, bool flag)
{
	put_name(out, name);
	put(out, flag ? "true" : "false");
}

void reply_base64(struct buf *out, const char *name, const uint8_t *data, size_t len)
{
	put_name(out, name);
	put(out, "\"");
	out->len += base64_encode((char *)buf_reserve(out, (len + 2) / 3 * 4), data, len);
	put(out, "\"");
}

void reply_list(struct buf *out, const char *name)
{
	put_name(out, name);
	put(out, "[");
}

void reply_item(struct buf *out)
{
	put(out, out->data[out->len - 1] == '[' ? "{" : ",{");
}

void reply_item_end(struct buf *out)
{
	put(out, "}");
}

void reply_list_end(struct buf *out)
{
	put(out, "]");
}

void reply_failure(struct buf *out, int64_t id, const struct failure *failure)
{
	put_id(out, id);
	put(out, ",\"ok\":false");
	reply_text(out, "error", failure->text);
	if (failure->err != 0)
		reply_text(out, "errno", errno_name(failure->err));
	if (failure->index >= 0)
		reply_number(out, "index", failure->index);
	if (failure->element >= 0)
		reply_number(out, "element", failure->element);
}

const char *errno_name(int err)
{
	const char *name = strerrorname_np(err);
	return name == NULL ? "EUNKNOWN" : name;
}
