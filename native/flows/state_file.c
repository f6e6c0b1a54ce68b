#include "state_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void put(struct buf *out, const char *format, ...)
{
	char text[512];
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buf_put(out, text, (size_t)len);
}

/* A text of ours; a path in it may hold anything. */
static void put_text(struct buf *out, const char *text)
{
	if (*text == '\0') {
		put(out, "null");
		return;
	}
	put(out, "\"");
	for (; *text != '\0'; text++) {
		uint8_t letter = (uint8_t)*text;
		if (letter == '"' || letter == '\\')
			put(out, "\\%c", letter);
		else
			put(out, "%c", letter < 0x20 || letter > 0x7e ? '?' : letter);
	}
	put(out, "\"");
}

static void put_domains(struct buf *out, const struct flows *flows)
{
	const char *comma = "";

	for (const struct domain *domain = flows->domains; domain != NULL; domain = domain->next, comma = ",") {
		put(out, "%s{\"domain\":%" PRIu32 ",\"local\":%zu,\"remote\":%zu,\"conflicts\":%" PRIu64 ",\"error\":", comma,
		    domain->number, domain->local, domain->remote, domain->conflicts);
		put_text(out, domain->error);
		put(out, "}");
	}
}

static void put_peers(struct buf *out, const struct flows *flows)
{
	const char *comma = "";
	char text[ADDRESS_TEXT];

	for (const struct peer *peer = flows->peers; peer != NULL; peer = peer->next, comma = ",") {
		put(out,
		    "%s{\"address\":\"%s\",\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"refused\":%" PRIu64
		    ",\"lastHeardMs\":",
		    comma, address_print(text, peer->address.family, peer->address.bytes), peer->sent, peer->received, peer->lost,
		    peer->refused);
		if (peer->heard_ms == 0)
			put(out, "null}");
		else
			put(out, "%" PRId64 "}", peer->heard_ms);
	}
}

static void put_state(struct buf *out, const struct flows *flows)
{
	put(out, "{\"pid\":%d,\"error\":", (int)getpid());
	put_text(out, *flows->config_error != '\0' ? flows->config_error : flows->listen_error);
	put(out, ",\"strangers\":%" PRIu64 ",\"domains\":[", flows->strangers);
	put_domains(out, flows);
	put(out, "],\"peers\":[");
	put_peers(out, flows);
	put(out, "]}\n");
}

void state_write(struct flows *flows)
{
	char path[4096], aside[4096];
	struct buf out = {0};
	bool written;
	int fd;

	snprintf(path, sizeof(path), "%s/state.json", flows->directory);
	snprintf(aside, sizeof(aside), "%s/state.json.new", flows->directory);
	put_state(&out, flows);
	fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	written = fd >= 0 && write(fd, out.data, out.len) == (ssize_t)out.len;
	if (fd >= 0)
		close(fd);
	/* A file that could not be written leaves the old one; the next second tries again. */
	if (written)
		rename(aside, path);
	flows->errors_changed = false;
	flows->written_us = now_us();
	buf_reset(&out, 0);
}
