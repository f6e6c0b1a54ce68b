/* TLS as a client, for probes: whether it is spoken, version 1.2 or later, and what is said inside. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../daemon/memory.h"

struct helper;

/* What is sent once connected, and what comes back. */
struct exchange {
	struct buf send;
	size_t sent;
	struct buf received;
	size_t max_bytes;
};

/* One connection's TLS. */
struct tls;

/* `fd` is a connected, non-blocking socket, which stays the caller's; `server_name` may be NULL. */
struct tls *tls_new(struct helper *helper, int fd, const char *server_name);
void tls_free(struct tls *tls);

/*
 * Goes on as far as the socket lets it: handshake, sending, receiving; a bounded piece of it at a time. How it ended as
 * `connect` says it, with `none` when there is nothing to send, or `tls`. NULL when it waits for `events`.
 */
const char *tls_go_on(struct tls *tls, struct exchange *exchange, uint32_t *events);

/* Once it ended with `tls`: the number of the other side's alert, -1 when it sent none, and the reason in OpenSSL's words. */
int tls_alert(const struct tls *tls);
const char *tls_reason(const struct tls *tls);
