/*
 * HTTP clients that open a connection for each request, and report when the last request failed.
 *
 * new-connections ADDRESS PORT CLIENTS PAUSE_US. Lines on stdin:
 * `begin`          counts anew; prints `ok`.
 * `end SINCE_NS`   prints `REQUESTS FAILED LAST_MS SLOWEST_MS WHY TOOK_MS`. LAST_MS: from SINCE_NS (CLOCK_MONOTONIC)
 *                  to the start of the last failed request, -1 for none. WHY and TOOK_MS: its reason (`ECONNREFUSED`,
 *                  the status 503, `closed`, `none`) and duration. SLOWEST_MS: the slowest request. A request without
 *                  an answer within 2 s has failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "clock.h"

#define MOST_CLIENTS 64

static struct sockaddr_in to = { .sin_family = AF_INET };
static atomic_long requests, failed;
static atomic_llong last_failed, slowest;

/* Of the last failed request. */
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_why[32] = "none";
static double last_took_ms;

static void raise_to(atomic_llong *most, long long value)
{
	long long seen = *most;

	while (value > seen && !atomic_compare_exchange_weak(most, &seen, value))
		;
}

static int pause_us;

/* Otherwise says why not. */
static bool answers(char *why, size_t room)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
	struct timeval limit = { .tv_sec = 2 };
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	char reply[256] = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t got = -1;
	bool ok;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1)
		got = recv(fd, reply, sizeof(reply) - 1, 0);
	ok = got >= 12 && memcmp(reply + 8, " 200", 4) == 0;
	if (got >= 12)
		snprintf(why, room, "%.3s", reply + 9);
	else
		snprintf(why, room, "%s", got >= 0 ? "closed" : strerrorname_np(errno));
	close(fd);
	return ok;
}

static void *client(void *unused)
{
	(void)unused;
	for (;;) {
		long long started = now_ns();

		requests++;
		char why[sizeof(last_why)];

		if (!answers(why, sizeof(why))) {
			failed++;
			raise_to(&last_failed, started);
			pthread_mutex_lock(&last_lock);
			if (last_failed == started) {
				memcpy(last_why, why, sizeof(why));
				last_took_ms = (now_ns() - started) / 1e6;
			}
			pthread_mutex_unlock(&last_lock);
		}
		raise_to(&slowest, now_ns() - started);
		usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc == 5 ? atoi(argv[3]) : 0;
	char line[64];
	pthread_t thread;

	if (count < 1 || count > MOST_CLIENTS || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	pause_us = atoi(argv[4]);
	while (count-- > 0)
		pthread_create(&thread, NULL, client, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		long long since = 0;

		pthread_mutex_lock(&last_lock);
		if (sscanf(line, "end %lld", &since) == 1)
			printf("%ld %ld %.3f %.1f %s %.1f\n", requests, failed, last_failed ? (last_failed - since) / 1e6 : -1.0,
			       slowest / 1e6, last_why, last_took_ms);
		else {
			requests = failed = 0;
			last_failed = slowest = 0;
			last_took_ms = 0;
			strcpy(last_why, "none");
			printf("ok\n");
		}
		pthread_mutex_unlock(&last_lock);
		fflush(stdout);
	}
	return 0;
}
