#include "agent.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

#define MOST_LIST 65536
#define MOST_LINE 64

static void reply(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
	buf_put(out, "\n", 1);
}

/* Executes the first command. Returns how many bytes it has; 0 if it is not complete yet, -1 if it is invalid. */
static long command(const struct buf *in, struct buf *out)
{
	const char *text = (const char *)in->data;
	const char *end = memchr(text, '\n', in->len);
	char line[MOST_LINE + 1], id[ID_LEN + 2] = "";
	const char *wrong;
	size_t line_len, len;

	if (end == NULL)
		return in->len > MOST_LINE ? -1 : 0;
	line_len = (size_t)(end - text) + 1;
	if (line_len > MOST_LINE)
		return -1;
	memcpy(line, text, line_len);
	line[line_len] = '\0';
	if (strcmp(line, "list\n") == 0) {
		lists_names(out);
		reply(out, "");
		return (long)line_len;
	}
	if (sscanf(line, "drop %33s", id) == 1 && lists_is_id(id)) {
		lists_drop(id);
		reply(out, "ok");
		return (long)line_len;
	}
	if (sscanf(line, "put %33s %zu", id, &len) != 2 || !lists_is_id(id) || len > MOST_LIST)
		return -1;
	if (in->len - line_len < len)
		return 0;
	wrong = lists_put(id, text + line_len, len);
	reply(out, wrong == NULL ? "ok" : wrong);
	return (long)(line_len + len);
}

bool agent_read(struct buf *in, struct buf *out)
{
	long taken;

	while (in->len > 0 && (taken = command(in, out)) != 0) {
		if (taken < 0)
			return false;
		buf_consume(in, (size_t)taken);
		/* Wipes the consumed command, whose bytes are now behind the rest: it may contain hashes. */
		OPENSSL_cleanse(in->data + in->len, in->cap - in->len);
	}
	return true;
}
