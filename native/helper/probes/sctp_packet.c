#include "sctp_packet.h"

#include <string.h>

#include "crc32c.h"

enum { INIT = 1, INIT_ACK = 2, ABORT = 6 };
enum { STATE_COOKIE = 7 };

#define CHUNK_HEADER_LEN 4
/* Length of an INIT and of an INIT ACK before their parameters. */
#define INIT_CHUNK_LEN 20
#define RECEIVER_WINDOW 65535
#define STREAMS 10

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, (uint16_t)(value >> 16));
	put16(at + 2, (uint16_t)value);
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* Computed with the field set to 0; stored with its lowest byte first. */
static void checksum(uint8_t *out, const uint8_t *packet, size_t len)
{
	static const uint8_t blank[4];
	uint32_t crc = crc32c_more(CRC32C_BEGIN, packet, 8);

	crc = crc32c_more(crc, blank, sizeof(blank));
	crc = ~crc32c_more(crc, packet + SCTP_HEADER_LEN, len - SCTP_HEADER_LEN);
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(crc >> 8 * i);
}

static void put_header(uint8_t *packet, const struct sctp_init *init, uint32_t tag)
{
	put16(packet, init->own_port);
	put16(packet + 2, init->port);
	put32(packet + 4, tag);
}

static void put_chunk_header(uint8_t *at, uint8_t type, uint16_t len)
{
	at[0] = type;
	at[1] = 0;
	put16(at + 2, len);
}

void sctp_put_init(uint8_t *packet, const struct sctp_init *init)
{
	uint8_t *chunk = packet + SCTP_HEADER_LEN;

	/* Only an INIT has no verification tag, since none has been exchanged yet. */
	put_header(packet, init, 0);
	put_chunk_header(chunk, INIT, INIT_CHUNK_LEN);
	put32(chunk + 4, init->tag);
	put32(chunk + 8, RECEIVER_WINDOW);
	put16(chunk + 12, STREAMS);
	put16(chunk + 14, STREAMS);
	put32(chunk + 16, init->tag); /* the first TSN is as random as the tag */
	checksum(packet + 8, packet, SCTP_INIT_LEN);
}

void sctp_put_abort(uint8_t *packet, const struct sctp_init *init, uint32_t peer_tag)
{
	put_header(packet, init, peer_tag);
	put_chunk_header(packet + SCTP_HEADER_LEN, ABORT, CHUNK_HEADER_LEN);
	checksum(packet + 8, packet, SCTP_ABORT_LEN);
}

/* Whether the parameters after the fixed part of an INIT ACK are complete and contain a state cookie. */
static bool has_cookie(const uint8_t *at, size_t left)
{
	bool found = false;

	while (left >= 4) {
		size_t len = get16(at + 2), padded = (len + 3) & ~(size_t)3;
		if (len < 4 || len > left)
			return false;
		found = found || (get16(at) == STATE_COOKIE && len > 4);
		/* The padding of the last parameter is not part of the chunk's length. */
		if (padded >= left)
			return found;
		at += padded;
		left -= padded;
	}
	return left == 0 && found;
}

static struct sctp_answer read_init_ack(const uint8_t *chunk, size_t len, size_t room)
{
	struct sctp_answer answer = {.result = SCTP_MALFORMED, .cause = -1};

	/* An INIT ACK is the only chunk of its packet (section 6.10), padded to four bytes. */
	if (len < INIT_CHUNK_LEN || room > ((len + 3) & ~(size_t)3))
		return answer;
	answer.peer_tag = get32(chunk + 4);
	/* Neither the tag nor a number of streams may be 0 (section 3.3.3). */
	if (answer.peer_tag == 0 || get16(chunk + 12) == 0 || get16(chunk + 14) == 0)
		return answer;
	if (has_cookie(chunk + INIT_CHUNK_LEN, len - INIT_CHUNK_LEN))
		answer.result = SCTP_ACCEPTED;
	return answer;
}

static struct sctp_answer read_abort(const uint8_t *chunk, size_t len)
{
	bool says_why = len >= CHUNK_HEADER_LEN + 4;

	return (struct sctp_answer){.result = SCTP_ABORTED, .cause = says_why ? get16(chunk + CHUNK_HEADER_LEN) : -1};
}

struct sctp_answer sctp_read_answer(const uint8_t *packet, size_t len, const struct sctp_init *init)
{
	struct sctp_answer answer = {.result = SCTP_OTHER, .cause = -1};
	const uint8_t *chunk = packet + SCTP_HEADER_LEN;
	size_t room, chunk_len;
	uint8_t sum[4];

	if (len < SCTP_HEADER_LEN + CHUNK_HEADER_LEN)
		return answer;
	if (get16(packet) != init->port || get16(packet + 2) != init->own_port || get32(packet + 4) != init->tag)
		return answer;
	checksum(sum, packet, len);
	if (memcmp(sum, packet + 8, sizeof(sum)) != 0) {
		answer.result = SCTP_SPOILT;
		return answer;
	}
	room = len - SCTP_HEADER_LEN;
	chunk_len = get16(chunk + 2);
	if (chunk_len < CHUNK_HEADER_LEN || chunk_len > room)
		return answer;
	if (chunk[0] == INIT_ACK)
		return read_init_ack(chunk, chunk_len, room);
	return chunk[0] == ABORT ? read_abort(chunk, chunk_len) : answer;
}

bool sctp_quotes_init(const uint8_t *quoted, size_t len, const struct sctp_init *init)
{
	const uint8_t *chunk = quoted + SCTP_HEADER_LEN;

	/* A router must quote at least eight bytes: the ports, and the verification tag, which is 0 in an INIT. */
	if (len < 8 || get16(quoted) != init->own_port || get16(quoted + 2) != init->port || get32(quoted + 4) != 0)
		return false;
	return len < SCTP_HEADER_LEN + 8 || (chunk[0] == INIT && get32(chunk + 4) == init->tag);
}
