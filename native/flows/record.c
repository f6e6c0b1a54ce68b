#include "record.h"

#include <arpa/inet.h>
#include <string.h>

#define HEAD 12
#define FLAG_IPV6 1

static uint8_t *put(uint8_t *at, const void *data, size_t len)
{
	memcpy(at, data, len);
	return at + len;
}

static bool is_about_domain(enum record_kind kind)
{
	return kind == RECORD_COUNT || kind == RECORD_REQUEST;
}

size_t record_write(uint8_t *at, enum record_kind kind, const struct flow_record *record)
{
	const struct end *ends[] = {&record->original.src, &record->original.dst, &record->reply.src, &record->reply.dst};
	uint32_t domain = htonl(record->domain), mark = htonl(record->mark);
	uint8_t *start = at;

	*at++ = (uint8_t)kind;
	*at++ = record->protocol;
	*at++ = record->tcp_state;
	*at++ = record->family == AF_INET6 ? FLAG_IPV6 : 0;
	at = put(at, &domain, 4);
	at = put(at, &mark, 4);
	if (is_about_domain(kind))
		return HEAD;
	for (size_t i = 0; i < 4; i++) {
		at = put(at, ends[i]->bytes, address_len(record->family));
		at = put(at, &ends[i]->port, 2);
	}
	return (size_t)(at - start);
}

static const uint8_t *get(const uint8_t *at, void *out, size_t len)
{
	memcpy(out, at, len);
	return at + len;
}

size_t record_read(const uint8_t *at, size_t len, enum record_kind *kind, struct flow_record *out)
{
	struct end *ends[] = {&out->original.src, &out->original.dst, &out->reply.src, &out->reply.dst};
	uint8_t bytes, flags;
	size_t size;

	*out = (struct flow_record){0};
	if (len < HEAD || at[0] < RECORD_PUT || at[0] > RECORD_REQUEST)
		return 0;
	*kind = (enum record_kind)at[0];
	out->protocol = at[1];
	out->tcp_state = at[2];
	flags = at[3];
	out->family = (flags & FLAG_IPV6) ? AF_INET6 : AF_INET;
	bytes = address_len(out->family);
	size = is_about_domain(*kind) ? HEAD : HEAD + 4 * (size_t)(bytes + 2);
	if (len < size)
		return 0;
	at = get(at + 4, &out->domain, 4);
	at = get(at, &out->mark, 4);
	out->domain = ntohl(out->domain);
	out->mark = ntohl(out->mark);
	if (is_about_domain(*kind))
		return size;
	for (size_t i = 0; i < 4; i++) {
		at = get(at, ends[i]->bytes, bytes);
		at = get(at, &ends[i]->port, 2);
	}
	return size;
}
