/*
 * Unit tests of the SCTP probe's packets. Each packet is read from memory of exactly its size, so that the sanitizers
 * detect a read beyond it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helper/probes/crc32c.h"
#include "../helper/probes/sctp_packet.h"

static const struct sctp_init INIT = {.own_port = 40000, .port = 3868, .tag = 0xa1b2c3d4};

#define expect(condition)                                                                                                        \
	do {                                                                                                                     \
		if (!(condition)) {                                                                                              \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

/* An INIT ACK as a server sends it: a parameter, a state cookie of five bytes with its padding. */
static const uint8_t INIT_ACK[] = {
	0x0f, 0x1c, 0x9c, 0x40, 0xa1, 0xb2, 0xc3, 0xd4, 0, 0, 0, 0, /* ports, tag, checksum */
	2, 0, 0, 37, 0, 0, 0x5e, 0xed, 0, 1, 0, 0, 0, 10, 0, 10, 0, 0, 0, 1, /* until the first TSN */
	0x80, 0x08, 0, 5, 0xc1, 0, 0, 0, /* supported extensions, padded */
	0, 7, 0, 9, 'e', 'a', 't', 'm', 'e', 0, 0, 0,
};
#define INIT_ACK_LEN sizeof(INIT_ACK)

static void sign(uint8_t *packet, size_t len)
{
	uint32_t crc;

	memset(packet + 8, 0, 4);
	crc = ~crc32c_more(CRC32C_BEGIN, packet, len);
	for (int i = 0; i < 4; i++)
		packet[8 + i] = (uint8_t)(crc >> 8 * i);
}

static struct sctp_answer read_exactly(const uint8_t *packet, size_t len)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	struct sctp_answer answer;

	memcpy(copy, packet, len);
	answer = sctp_read_answer(copy, len, &INIT);
	free(copy);
	return answer;
}

/* The INIT ACK with one byte replaced, and a checksum that is right again. */
static enum sctp_result with_byte(size_t at, uint8_t value)
{
	uint8_t packet[INIT_ACK_LEN];

	memcpy(packet, INIT_ACK, sizeof(packet));
	packet[at] = value;
	sign(packet, sizeof(packet));
	return read_exactly(packet, sizeof(packet)).result;
}

/* RFC 3720 appendix B.4. */
static void checksums(void)
{
	uint8_t blank[32] = {0}, ones[32];

	memset(ones, 0xff, sizeof(ones));
	expect(~crc32c_more(CRC32C_BEGIN, blank, sizeof(blank)) == 0x8a9136aa);
	expect(~crc32c_more(CRC32C_BEGIN, ones, sizeof(ones)) == 0x62a8ab43);
	expect(~crc32c_more(CRC32C_BEGIN, "123456789", 9) == 0xe3069283);
}

static void sent(void)
{
	uint8_t packet[SCTP_INIT_LEN], again[SCTP_INIT_LEN], ending[SCTP_ABORT_LEN];
	static const uint8_t begin[] = {0x9c, 0x40, 0x0f, 0x1c, 0, 0, 0, 0}, chunk[] = {1, 0, 0, 20, 0xa1, 0xb2, 0xc3, 0xd4};
	static const uint8_t end[] = {0x9c, 0x40, 0x0f, 0x1c, 0, 0, 0x5e, 0xed}, abort_chunk[] = {6, 0, 0, 4};

	sctp_put_init(packet, &INIT);
	memcpy(again, packet, sizeof(packet));
	sign(again, sizeof(again));
	expect(memcmp(packet, again, sizeof(packet)) == 0);
	expect(memcmp(packet, begin, sizeof(begin)) == 0 && memcmp(packet + 12, chunk, sizeof(chunk)) == 0);
	sctp_put_abort(ending, &INIT, 0x5eed);
	expect(memcmp(ending, end, sizeof(end)) == 0 && memcmp(ending + 12, abort_chunk, sizeof(abort_chunk)) == 0);
}

static void init_acks(void)
{
	uint8_t packet[INIT_ACK_LEN + 8] = {0};

	memcpy(packet, INIT_ACK, INIT_ACK_LEN);
	sign(packet, INIT_ACK_LEN);
	expect(read_exactly(packet, INIT_ACK_LEN).result == SCTP_ACCEPTED);
	expect(read_exactly(packet, INIT_ACK_LEN).peer_tag == 0x5eed);
	/* Any changed byte: a packet of somebody else, or a corrupted one. */
	for (size_t at = 0; at < INIT_ACK_LEN; at++) {
		packet[at] ^= 0x10;
		expect(read_exactly(packet, INIT_ACK_LEN).result == (at < 8 ? SCTP_OTHER : SCTP_SPOILT));
		packet[at] ^= 0x10;
	}
	/* Truncated anywhere, with a valid checksum: without the padding at its end it is still complete. */
	for (size_t len = 0; len < INIT_ACK_LEN; len++) {
		memcpy(packet, INIT_ACK, INIT_ACK_LEN);
		if (len >= 12)
			sign(packet, len);
		expect((read_exactly(packet, len).result == SCTP_ACCEPTED) == (len >= 12 + 37));
	}
	/* A second chunk. */
	memcpy(packet, INIT_ACK, INIT_ACK_LEN);
	memcpy(packet + INIT_ACK_LEN, (uint8_t[]){11, 0, 0, 4}, 4);
	sign(packet, INIT_ACK_LEN + 4);
	expect(read_exactly(packet, INIT_ACK_LEN + 4).result == SCTP_MALFORMED);
}

static void malformed(void)
{
	/* Lengths: of the chunk beyond the packet, too short for an INIT ACK; of parameters. */
	expect(with_byte(15, 200) == SCTP_OTHER);
	expect(with_byte(15, 3) == SCTP_OTHER);
	expect(with_byte(15, 19) == SCTP_MALFORMED);
	expect(with_byte(15, 20) == SCTP_MALFORMED);
	expect(with_byte(35, 3) == SCTP_MALFORMED);
	expect(with_byte(35, 200) == SCTP_MALFORMED);
	expect(with_byte(43, 200) == SCTP_MALFORMED);
	expect(with_byte(43, 4) == SCTP_MALFORMED); /* a cookie of nothing */
	expect(with_byte(41, 8) == SCTP_MALFORMED); /* no cookie */
	/* Another chunk; no tag; no streams in one direction. */
	expect(with_byte(12, 11) == SCTP_OTHER);
	expect(with_byte(25, 0) == SCTP_MALFORMED);
	expect(with_byte(27, 0) == SCTP_MALFORMED);
	{
		uint8_t packet[INIT_ACK_LEN];
		memcpy(packet, INIT_ACK, sizeof(packet));
		memset(packet + 16, 0, 4);
		sign(packet, sizeof(packet));
		expect(read_exactly(packet, sizeof(packet)).result == SCTP_MALFORMED);
	}
}

static void aborts(void)
{
	uint8_t packet[20] = {0x0f, 0x1c, 0x9c, 0x40, 0xa1, 0xb2, 0xc3, 0xd4, 0, 0, 0, 0, 6, 0, 0, 8, 0, 4, 0, 4};

	sign(packet, sizeof(packet));
	expect(read_exactly(packet, sizeof(packet)).result == SCTP_ABORTED);
	expect(read_exactly(packet, sizeof(packet)).cause == 4);
	packet[15] = 4;
	sign(packet, 16);
	expect(read_exactly(packet, 16).result == SCTP_ABORTED);
	expect(read_exactly(packet, 16).cause == -1);
}

static void quotes(void)
{
	uint8_t packet[SCTP_INIT_LEN];
	struct sctp_init other = INIT;

	sctp_put_init(packet, &INIT);
	for (size_t len = 0; len <= sizeof(packet); len++) {
		uint8_t *copy = malloc(len > 0 ? len : 1);
		memcpy(copy, packet, len);
		expect(sctp_quotes_init(copy, len, &INIT) == (len >= 8));
		free(copy);
	}
	other.tag++;
	expect(!sctp_quotes_init(packet, sizeof(packet), &other));
	expect(sctp_quotes_init(packet, 8, &other));
	other.own_port++;
	expect(!sctp_quotes_init(packet, 8, &other));
}

/* Random packets with the right ports, tag and checksum: every accepted one is valid. */
static void anything(void)
{
	uint32_t state = 1;
	unsigned accepted = 0;

	for (unsigned round = 0; round < 200000; round++) {
		uint8_t packet[INIT_ACK_LEN + 16];
		size_t len = INIT_ACK_LEN;
		struct sctp_answer answer;

		memset(packet, 0, sizeof(packet));
		memcpy(packet, INIT_ACK, INIT_ACK_LEN);
		for (unsigned change = 0; change < 1 + round % 4; change++) {
			state = state * 1664525 + 1013904223;
			packet[12 + (state >> 8) % (sizeof(packet) - 12)] = (uint8_t)(state >> 24);
			if (state % 3 == 0)
				len = 12 + (state >> 12) % (sizeof(packet) - 11);
		}
		sign(packet, len);
		answer = read_exactly(packet, len);
		expect(answer.result != SCTP_SPOILT);
		if (answer.result != SCTP_ACCEPTED)
			continue;
		accepted++;
		expect(packet[12] == 2 && answer.peer_tag != 0 && len >= 12 + 20 + 5);
	}
	expect(accepted > 1000);
}

int main(void)
{
	checksums();
	sent();
	init_acks();
	malformed();
	aborts();
	quotes();
	anything();
	return 0;
}
