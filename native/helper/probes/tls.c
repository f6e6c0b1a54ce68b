/*
 * The peer is not trusted, so its cost is bounded: time by the probe's timer; memory and work by a maximum of bytes, by
 * reading certificates without verifying them (verifying a hostile chain takes a third of a second), and by refusing
 * key exchanges whose parameters the peer chooses.
 */
#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "../loop/helper.h"

/* Maximum of bytes for one connection; and for one event, so that an endless sender does not delay other probes. */
#define MAX_BYTES 65536
#define EVENT_BYTES 16384
#define MAX_CERTIFICATES 32768

/* Weak keys are accepted, since they are still TLS. */
#define CIPHERS "DEFAULT:!DHE:@SECLEVEL=0"
#define GROUPS "X25519:P-256:P-384:P-521"

struct tls_client {
	SSL_CTX *context;
	BIO_METHOD *wire;
};

struct tls {
	SSL *session;
	int fd;
	bool open; /* the handshake is done */
	bool closed;
	bool excess;
	int err;	   /* errno of the socket */
	size_t left;	   /* bytes that may still come */
	size_t event_left; /* of them, for this event */
	int alert;
	const char *reason;
};

static int wire_read(BIO *bio, char *out, int size)
{
	struct tls *tls = BIO_get_data(bio);
	size_t room = tls->event_left < tls->left ? tls->event_left : tls->left;
	ssize_t got;

	BIO_clear_retry_flags(bio);
	if (tls->left == 0) {
		tls->excess = true;
		return -1;
	}
	if (room > 0 && (size_t)size > room)
		size = (int)room;
	got = room == 0 ? -1 : recv(tls->fd, out, (size_t)size, 0);
	if (room == 0 || (got < 0 && errno == EAGAIN))
		BIO_set_retry_read(bio);
	else if (got < 0)
		tls->err = errno;
	else if (got == 0)
		tls->closed = true;
	else {
		tls->left -= (size_t)got;
		tls->event_left -= (size_t)got;
	}
	return (int)got;
}

static int wire_write(BIO *bio, const char *data, int size)
{
	struct tls *tls = BIO_get_data(bio);
	ssize_t wrote = send(tls->fd, data, (size_t)size, MSG_NOSIGNAL);

	BIO_clear_retry_flags(bio);
	if (wrote < 0 && errno == EAGAIN)
		BIO_set_retry_write(bio);
	else if (wrote < 0) {
		/* A peer that resets while we write may have sent the reason before, so we continue to read. */
		tls->err = errno;
		return size;
	}
	return (int)wrote;
}

static long wire_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH;
}

static int accept_any(X509_STORE_CTX *store, void *arg)
{
	(void)store, (void)arg;
	return 1;
}

static void *made(void *thing)
{
	if (thing == NULL) {
		ERR_print_errors_fp(stderr);
		abort();
	}
	return thing;
}

/* Created when it is first needed, and shared by all connections. */
static struct tls_client *client_of(struct helper *helper)
{
	struct tls_client *client = helper->tls;

	if (client != NULL)
		return client;
	client = helper->tls = memory_new(sizeof(*client));
	/* The machine's openssl.cnf must not restrict which members pass. */
	OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	client->wire = made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire"));
	BIO_meth_set_read(client->wire, wire_read);
	BIO_meth_set_write(client->wire, wire_write);
	BIO_meth_set_ctrl(client->wire, wire_control);
	client->context = made(SSL_CTX_new(TLS_client_method()));
	SSL_CTX_set_min_proto_version(client->context, TLS1_2_VERSION);
	if (SSL_CTX_set_cipher_list(client->context, CIPHERS) != 1 || SSL_CTX_set1_groups_list(client->context, GROUPS) != 1)
		made(NULL);
	SSL_CTX_set_options(client->context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(client->context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(client->context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
	SSL_CTX_set_max_cert_list(client->context, MAX_CERTIFICATES);
	SSL_CTX_set_read_ahead(client->context, 1);
	SSL_CTX_set_verify(client->context, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_cert_verify_callback(client->context, accept_any, NULL);
	return client;
}

struct tls *tls_new(struct helper *helper, int fd, const char *server_name)
{
	struct tls_client *client = client_of(helper);
	struct tls *tls = memory_new(sizeof(*tls));
	BIO *bio = made(BIO_new(client->wire));

	*tls = (struct tls){.session = made(SSL_new(client->context)), .fd = fd, .left = MAX_BYTES, .alert = -1};
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->session, bio, bio);
	SSL_set_connect_state(tls->session);
	if (server_name != NULL && SSL_set_tlsext_host_name(tls->session, server_name) != 1)
		made(NULL);
	return tls;
}

void tls_free(struct tls *tls)
{
	if (tls == NULL)
		return;
	SSL_free(tls->session);
	free(tls);
}

static const char *failure(struct tls *tls)
{
	unsigned long error = ERR_peek_error();
	const char *reason = ERR_reason_error_string(error);

	if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET)
		tls->alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;
	else if (tls->err != 0)
		return "reset";
	else if (tls->closed)
		return "closed";
	tls->reason = tls->excess ? "too much data" : reason == NULL ? "unknown" : reason;
	return "tls";
}

/* Runs the next step. Positive if it succeeded, else what OpenSSL returned. */
static int step(struct tls *tls, struct exchange *exchange)
{
	size_t unsent = exchange->send.len - exchange->sent;
	size_t space = exchange->max_bytes - exchange->received.len;
	int done;

	if (!tls->open) {
		done = SSL_do_handshake(tls->session);
		tls->open = done > 0;
	} else if (unsent > 0) {
		done = SSL_write(tls->session, exchange->send.data + exchange->sent, (int)unsent);
		exchange->sent += done > 0 ? (size_t)done : 0;
	} else {
		done = SSL_read(tls->session, buf_reserve(&exchange->received, space), (int)space);
		exchange->received.len += done > 0 ? (size_t)done : 0;
	}
	return done;
}

const char *tls_go_on(struct tls *tls, struct exchange *exchange, uint32_t *events)
{
	tls->event_left = EVENT_BYTES;
	while (exchange->received.len < exchange->max_bytes) {
		int done;

		if (tls->open && exchange->send.len == 0)
			return "none";
		ERR_clear_error();
		done = step(tls, exchange);
		if (done > 0)
			continue;
		switch (SSL_get_error(tls->session, done)) {
		case SSL_ERROR_WANT_READ:
			*events = EPOLLIN;
			return NULL;
		case SSL_ERROR_WANT_WRITE:
			*events = EPOLLOUT;
			return NULL;
		case SSL_ERROR_ZERO_RETURN:
			return "closed";
		default:
			return failure(tls);
		}
	}
	return "full";
}

int tls_alert(const struct tls *tls)
{
	return tls->alert;
}

const char *tls_reason(const struct tls *tls)
{
	return tls->reason;
}
