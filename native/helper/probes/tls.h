/* A TLS client for probes: whether the peer supports TLS 1.2 or later, and an exchange over it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../daemon/memory.h"

struct helper;

/* The data to send once connected, and the answer. */
struct exchange {
	struct buf send;
	size_t sent;
	struct buf received;
	size_t max_bytes;
};

/* One connection's TLS. */
struct tls;

/* `fd` is a connected, non-blocking socket, which the caller owns. `server_name` may be NULL. */
struct tls *tls_new(struct helper *helper, int fd, const char *server_name);
void tls_free(struct tls *tls);

/*
 * Continues the handshake, sending and receiving as far as the socket allows, a bounded amount at a time. Returns how
 * it ended in the words of `connect`, with `none` if there is nothing to send, or `tls`. NULL if it waits for `events`.
 */
const char *tls_go_on(struct tls *tls, struct exchange *exchange, uint32_t *events);

/* After an end with `tls`: the number of the peer's alert, -1 if it sent none, and the reason in OpenSSL's text. */
int tls_alert(const struct tls *tls);
const char *tls_reason(const struct tls *tls);
