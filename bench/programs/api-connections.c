/*
 * Opens a new TLS connection at a steady rate, each for one request of `/readyz`, whatever became of those before. What
 * is not answered with 200 within PATIENCE_NS has failed. A thread of its own begins them, under SCHED_FIFO; its longest
 * pause is reported beside the gap: a stalled machine is no outage.
 *
 * api-connections ADDRESS PORT EVERY_US prints `ready` after the first answer. Lines on stdin:
 * `begin`         counts anew; prints `ok`.
 * `last`          prints when the newest connection that failed was begun, ns on CLOCK_MONOTONIC; 0 for none.
 * `end SINCE_NS`  prints `BEGUN FAILED GAP_MS LAST_MS SLOWEST_MS STALL_MS`. GAP_MS: the longest time from one answer to
 *                 the next. LAST_MS: from SINCE_NS to the beginning of the last that failed, -1 for none. SLOWEST_MS: the
 *                 longest that an answered one took.
 */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "clock.h"

#define PATIENCE_NS (2 * SECOND)
#define STACK_BYTES (256 << 10)

static struct sockaddr_in to = { .sin_family = AF_INET };
static long long interval_ns;
static SSL_CTX *context;

/* Since `begin`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long begun, failed;
static long long last_failed, last_answer, longest, slowest, stall;

/* Limits what the socket waits for, from now on; false if the time is over. */
static bool wait_until(int fd, long long until)
{
	long long left = until - now_ns();
	struct timeval limit = { .tv_sec = left / SECOND, .tv_usec = left % SECOND / 1000 };

	if (left < MS)
		return false;
	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0;
}

static bool ask(SSL *ssl, int fd, long long until)
{
	static const char request[] = "GET /readyz HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
	char reply[32] = { 0 };

	return wait_until(fd, until) && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && SSL_set_fd(ssl, fd) == 1 &&
	       wait_until(fd, until) && SSL_connect(ssl) == 1 && wait_until(fd, until) &&
	       SSL_write(ssl, request, sizeof(request) - 1) > 0 && SSL_read(ssl, reply, sizeof(reply) - 1) >= 12 &&
	       memcmp(reply + 8, " 200", 4) == 0;
}

static void *connection(void *unused)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	long long began = now_ns(), now;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	SSL *ssl = SSL_new(context);
	bool ok;

	(void)unused;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	ok = ssl && fd >= 0 && ask(ssl, fd, began + PATIENCE_NS);
	SSL_free(ssl);
	close(fd);
	pthread_mutex_lock(&lock);
	now = now_ns();
	if (!ok) {
		failed++;
		if (began > last_failed)
			last_failed = began;
	} else {
		if (!last_answer) {
			printf("ready\n");
			fflush(stdout);
		} else if (now - last_answer > longest) {
			longest = now - last_answer;
		}
		last_answer = now;
		if (now - began > slowest)
			slowest = now - began;
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *beginner(void *unused)
{
	long long due = now_ns();
	pthread_attr_t attributes;
	pthread_t thread;

	(void)unused;
	become_realtime(50);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (;;) {
		struct timespec at = { .tv_sec = due / SECOND, .tv_nsec = due % SECOND };
		long long late;

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
			;
		late = now_ns() - due;
		pthread_mutex_lock(&lock);
		begun++;
		if (late > stall)
			stall = late;
		pthread_mutex_unlock(&lock);
		if (pthread_create(&thread, &attributes, connection, NULL) != 0)
			abort();
		/* Those missed in a pause are not begun in a burst later: the pause is reported. */
		due = (late > interval_ns ? now_ns() : due) + interval_ns;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[64];

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	interval_ns = atoll(argv[3]) * 1000;
	signal(SIGPIPE, SIG_IGN);
	context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	pthread_create(&thread, NULL, beginner, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		long long since = 0;

		pthread_mutex_lock(&lock);
		if (sscanf(line, "end %lld", &since) == 1) {
			printf("%ld %ld %.3f %.3f %.3f %.3f\n", begun, failed, longest / 1e6,
			       last_failed ? (last_failed - since) / 1e6 : -1.0, slowest / 1e6, stall / 1e6);
		} else if (strcmp(line, "last\n") == 0) {
			printf("%lld\n", last_failed);
		} else {
			begun = failed = 0;
			last_failed = longest = slowest = stall = 0;
			printf("ok\n");
		}
		fflush(stdout);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}
