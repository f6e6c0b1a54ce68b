#include "state_file.h"

#include <inttypes.h>
#include <unistd.h>

#include "../daemon/text.h"
#include "writer.h"

/* Our own error texts, except that a path in them may hold any byte. */
static void put_text(struct buf *out, const char *text)
{
	if (*text == '\0') {
		text_put(out, "null");
		return;
	}
	text_put(out, "\"");
	for (; *text != '\0'; text++) {
		uint8_t letter = (uint8_t)*text;
		if (letter == '"' || letter == '\\')
			text_put(out, "\\%c", letter);
		else
			text_put(out, "%c", letter < 0x20 || letter > 0x7e ? '?' : letter);
	}
	text_put(out, "\"");
}

static void put_counts(struct buf *out, const struct counts *counts)
{
	text_put(out, ",\"promised\":%" PRIu32 ",\"missed\":%" PRIu64 ",\"lastMiss\":", counts->advertised, counts->missed);
	if (counts->missed_ms == 0)
		text_put(out, "null");
	else
		text_put(out, "{\"atMs\":%" PRId64 ",\"expected\":%" PRIu32 ",\"came\":%" PRIu32 "}", counts->missed_ms,
		    counts->missed_of, counts->missed_arrived);
}

static void put_domains(struct buf *out, const struct flows *flows)
{
	const char *comma = "";

	for (const struct domain *domain = flows->domains; domain != NULL; domain = domain->next, comma = ",") {
		text_put(out, "%s{\"domain\":%" PRIu32 ",\"local\":%zu,\"remote\":%zu,\"refused\":%" PRIu64
		    ",\"insisted\":%" PRIu64 ",\"error\":", comma,
		    domain->number, domain->local, domain->remote, domain->refused, domain->insisted);
		put_text(out, domain->error);
		put_counts(out, &domain->counts);
		text_put(out, "}");
	}
}

static void put_peers(struct buf *out, const struct flows *flows)
{
	const char *comma = "";
	char text[ADDRESS_TEXT];

	for (const struct peer *peer = flows->peers; peer != NULL; peer = peer->next, comma = ",") {
		text_put(out,
		    "%s{\"address\":\"%s\",\"silentMs\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"refused\":%" PRIu64
		    ",\"lastHeardMs\":",
		    comma, address_print(text, peer->address.family, peer->address.bytes), (now_us() - peer->heard_us) / 1000, peer->sent, peer->received, peer->lost,
		    peer->refused);
		if (peer->heard_ms == 0)
			text_put(out, "null}");
		else
			text_put(out, "%" PRId64 "}", peer->heard_ms);
	}
}

static void put_state(struct buf *out, const struct flows *flows)
{
	text_put(out, "{\"pid\":%d,\"writtenMs\":%" PRId64 ",\"error\":", (int)getpid(), epoch_ms());
	put_text(out, *flows->config_error != '\0' ? flows->config_error : flows->listen_error);
	text_put(out, ",\"strangers\":%" PRIu64 ",\"domains\":[", flows->strangers);
	put_domains(out, flows);
	text_put(out, "],\"peers\":[");
	put_peers(out, flows);
	text_put(out, "]}\n");
}

void state_write(struct flows *flows)
{
	struct buf out = {0};

	put_state(&out, flows);
	/* A failed write leaves the old file. The next second tries again. */
	writer_put(flows->directory, "state.json", &out);
	flows->errors_changed = false;
	flows->written_us = now_us();
}
