/*
 * Clients that make new TLS 1.3 connections, one after the other, each with a whole handshake: no session is resumed.
 * Once it is done the connection is reset. Each asks for the name s<n>.example.com, n below NAMES at random, at port
 * PORT + n / PER_PORT. Runs until stdin ends.
 *
 * tls-handshakes ADDRESS PORT PER_PORT NAMES CLIENTS PAUSE_US
 *
 * A line on stdin, and what it prints:
 *   count            HANDSHAKES FAILED NANOSECONDS, since the last time
 *   until N SHA256   when a client first was shown this certificate (hexadecimal) for name n, by CLOCK_MONOTONIC in
 *                    nanoseconds; -1 if that took more than 10 s
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "clock.h"

#define LONGEST_NS (10 * SECOND)

static const char *address;
static int port, per_port, names, pause_us;
static SSL_CTX *context;
static atomic_bool ending;
static atomic_long handshakes, failed;

static int connection_to(int name)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port + name / per_port) };
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct timeval limit = { .tv_sec = 5 };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Why the first one failed. */
static void say_once(const char *host, int error)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&said))
		return;
	fprintf(stderr, "%s: no handshake: %s\n", host, strerror(error));
	ERR_print_errors_fp(stderr);
}

/* Whether it was done; `shown` gets the SHA-256 of the certificate unless null. */
static bool handshake(int name, unsigned char *shown)
{
	int fd = connection_to(name);
	int error = errno;
	char host[64];
	bool done;
	SSL *ssl;

	snprintf(host, sizeof(host), "s%d.example.com", name);
	if (fd < 0) {
		say_once(host, error);
		return false;
	}
	ssl = SSL_new(context);
	SSL_set_tlsext_host_name(ssl, host);
	SSL_set_fd(ssl, fd);
	done = SSL_connect(ssl) == 1;
	if (!done)
		say_once(host, errno);
	if (done && shown) {
		X509 *certificate = SSL_get1_peer_certificate(ssl);

		X509_digest(certificate, EVP_sha256(), shown, NULL);
		X509_free(certificate);
	}
	SSL_free(ssl);
	close(fd);
	return done;
}

static void *client(void *argument)
{
	unsigned seed = (unsigned)(long)argument;

	while (!ending) {
		if (handshake(rand_r(&seed) % names, NULL))
			handshakes++;
		else
			failed++;
		if (pause_us)
			usleep(pause_us);
	}
	return NULL;
}

static long long shown_at(int name, const char *wanted)
{
	long long started = now_ns();

	while (now_ns() - started < LONGEST_NS) {
		unsigned char shown[32];
		char text[65];

		if (!handshake(name, shown)) {
			failed++;
			continue;
		}
		for (int i = 0; i < 32; i++)
			snprintf(text + 2 * i, 3, "%02x", shown[i]);
		if (strcmp(text, wanted) == 0)
			return now_ns();
		usleep(500);
	}
	return -1;
}

int main(int argc, char **argv)
{
	long long since;
	char line[256];

	if (argc != 7)
		return 2;
	address = argv[1];
	port = atoi(argv[2]);
	per_port = atoi(argv[3]);
	names = atoi(argv[4]);
	pause_us = atoi(argv[6]);
	context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
	for (long i = 0; i < atoi(argv[5]); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, client, (void *)(i + 1)))
			return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	since = now_ns();
	while (fgets(line, sizeof(line), stdin)) {
		char wanted[65];
		int name;

		if (sscanf(line, "until %d %64s", &name, wanted) == 2) {
			printf("%lld\n", shown_at(name, wanted));
		} else {
			long long now = now_ns();

			printf("%ld %ld %lld\n", atomic_exchange(&handshakes, 0), atomic_exchange(&failed, 0), now - since);
			since = now;
		}
	}
	ending = true;
	return 0;
}
