/* The packets of an SCTP probe (RFC 9260 section 3): INIT, ABORT, and the answers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One INIT of ours. Every answer must match it. Ports in host order. */
struct sctp_init {
	uint16_t own_port;
	uint16_t port;
	uint32_t tag; /* not 0 */
};

#define SCTP_HEADER_LEN 12
#define SCTP_INIT_LEN (SCTP_HEADER_LEN + 20)
#define SCTP_ABORT_LEN (SCTP_HEADER_LEN + 4)

/* Writes SCTP_INIT_LEN bytes. */
void sctp_put_init(uint8_t *packet, const struct sctp_init *init);
/* Writes SCTP_ABORT_LEN bytes, which end the association of an INIT ACK. */
void sctp_put_abort(uint8_t *packet, const struct sctp_init *init, uint32_t peer_tag);

enum sctp_result {
	SCTP_OTHER,    /* not an answer to this INIT; ignored */
	SCTP_SPOILT,   /* an answer with a wrong checksum; ignored */
	SCTP_ACCEPTED, /* an INIT ACK */
	SCTP_ABORTED,
	SCTP_MALFORMED, /* an invalid INIT ACK */
};

struct sctp_answer {
	enum sctp_result result;
	uint32_t peer_tag; /* of SCTP_ACCEPTED */
	int cause;	   /* of SCTP_ABORTED: the first (section 3.3.10); -1 for none */
};

/* `packet` without its IP header. */
struct sctp_answer sctp_read_answer(const uint8_t *packet, size_t len, const struct sctp_init *init);

/* Whether an ICMP error that quotes this much of a packet is about this INIT (section 10, ICMP6). */
bool sctp_quotes_init(const uint8_t *quoted, size_t len, const struct sctp_init *init);
