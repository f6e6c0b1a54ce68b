/*
 * Probes addresses at a steady rate and reports the longest silence. Each address is probed once an interval; the turns
 * of many addresses are spread over it. The kernel timestamps arrivals. A thread of its own sends, under SCHED_FIFO,
 * and its longest pause is reported beside the gap: a stalled machine is no outage.
 *
 * prober PORT INTERVAL_US ADDRESS...: UDP to an echo behind each address; PORT 0: ICMP echo. IPv4.
 *
 * It prints `ready SOURCE_PORT FIFO`. Lines on stdin:
 * `begin`               starts a window; prints its time (ns, CLOCK_MONOTONIC).
 * `last`                prints when the newest answered probe was sent, on the same clock.
 * `end SINCE_NS [all]`  ends it, waits a moment for stragglers and prints one JSON object:
 *   sent, lost; gapMs from the last answer before to the first after the longest silence of one address, with
 *   gapFromNs and gapUntilNs; stallMs, the sender's longest pause beyond its interval, stallInGapMs the same in the gap;
 *   backMs: from SINCE_NS until the last address answered again (the sending of its first answered probe after a
 *   loss); silentMs: from SINCE_NS to the sending of the last lost probe; touched: addresses that lost any;
 *   with `all`, back: backMs of every address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"
#include "icmp-echo.h"

#define MOST_PROBES (8u << 20)

struct probe { long long sent, received; };
struct body { uint32_t window, number; };
struct echo { struct icmphdr head; struct body body; };

static struct probe *probes;
static struct sockaddr_in *to;
static int targets, port, fd;
static long long interval_ns;
static atomic_uint window, count;
static atomic_bool recording;
static uint16_t ident;

static void ask(int target)
{
	uint32_t number = count;
	struct echo echo = { .head.type = ICMP_ECHO, .head.un.echo.id = ident,
			     .body = { recording ? window : UINT32_MAX, number } };

	if (recording && number < MOST_PROBES) {
		probes[number].received = 0;
		probes[number].sent = now_ns();
		count = number + 1;
	}
	if (port) {
		sendto(fd, &echo.body, sizeof(echo.body), MSG_DONTWAIT, (struct sockaddr *)&to[target], sizeof(*to));
		return;
	}
	echo.head.checksum = checksum(&echo, sizeof(echo));
	sendto(fd, &echo, sizeof(echo), MSG_DONTWAIT, (struct sockaddr *)&to[target], sizeof(*to));
}

static void *sender(void *unused)
{
	long long turn = 0, began = now_ns();
	unsigned seen = window;
	int target = 0;

	(void)unused;
	become_realtime(60);
	for (;;) {
		long long due = began + ++turn * interval_ns / targets, now = now_ns();
		struct timespec at;

		/* Probes missed in a pause are not sent in a burst later: the pause is reported. */
		if (now > due + interval_ns) {
			began = due = now;
			turn = 0;
		}
		at = (struct timespec){ due / SECOND, due % SECOND };
		if (due - now > 50000)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (seen != window) {
			seen = window;
			target = 0;
			recording = true;
		}
		ask(target);
		target = (target + 1) % targets;
	}
	return NULL;
}

static void *receiver(void *unused)
{
	(void)unused;
	become_realtime(59);
	for (;;) {
		char data[256], control[256];
		struct iovec part = { data, sizeof(data) };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
					  .msg_controllen = sizeof(control) };
		ssize_t size = recvmsg(fd, &message, 0);
		long long at = now_ns();
		struct body body;

		if (size < 0)
			continue;
		if (!port) {
			struct echo *echo = (struct echo *)(data + ((struct iphdr *)data)->ihl * 4);
			if (echo->head.type != ICMP_ECHOREPLY || echo->head.un.echo.id != ident)
				continue;
			body = echo->body;
		} else {
			memcpy(&body, data, sizeof(body));
		}
		at = arrival_ns(&message, at, clock_ns(CLOCK_REALTIME) - at);
		if (body.window == window && body.number < count && !probes[body.number].received)
			probes[body.number].received = at;
	}
	return NULL;
}

/* The n-th probe went to address n % targets. */
static void tell(long long since, bool all)
{
	uint32_t total = count < MOST_PROBES ? count : MOST_PROBES;
	long long gap = 0, from = 0, until = 0, stall = 0, stall_in_gap = 0, back = 0, silent = 0;
	long long *backs = calloc(targets, sizeof(*backs));
	uint32_t lost = 0, touched = 0;

	for (int target = 0; target < targets; target++) {
		long long last = 0, last_lost = 0;

		for (uint32_t n = target; n < total; n += targets) {
			struct probe *p = &probes[n];

			if (!p->received) {
				lost++;
				last_lost = p->sent;
				backs[target] = -1;
				continue;
			}
			if (backs[target] < 0)
				backs[target] = p->sent > since ? p->sent - since : 0;
			if (last && p->received - last > gap) {
				gap = p->received - last;
				from = last;
				until = p->received;
			}
			if (p->received > last)
				last = p->received;
		}
		if (last_lost)
			touched++;
		if (last_lost > since && last_lost - since > silent)
			silent = last_lost - since;
		if (backs[target] < 0 || (back >= 0 && backs[target] > back))
			back = backs[target];
	}
	for (uint32_t n = 1; n < total; n++) {
		long long pause = probes[n].sent - probes[n - 1].sent - interval_ns / targets;

		if (pause > stall)
			stall = pause;
		if (pause > stall_in_gap && probes[n].sent > from && probes[n - 1].sent < until)
			stall_in_gap = pause;
	}
	printf("{\"sent\":%u,\"lost\":%u,\"gapMs\":%.3f,\"gapFromNs\":\"%lld\",\"gapUntilNs\":\"%lld\",\"stallMs\":%.3f,"
	       "\"stallInGapMs\":%.3f,\"backMs\":%.3f,\"silentMs\":%.3f,\"touched\":%u", total, lost, gap / 1e6, from, until,
	       stall / 1e6, stall_in_gap / 1e6, back < 0 ? -1.0 : back / 1e6, silent / 1e6, touched);
	for (int target = 0; all && target < targets; target++)
		printf("%s%.3f", target ? "," : ",\"back\":[", backs[target] < 0 ? -1.0 : backs[target] / 1e6);
	printf(all ? "]}\n" : "}\n");
	fflush(stdout);
	free(backs);
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	socklen_t size = sizeof(own);
	pthread_t threads[2];
	char line[128];

	if (argc < 4)
		return 2;
	port = atoi(argv[1]);
	interval_ns = atoll(argv[2]) * 1000;
	targets = argc - 3;
	to = calloc(targets, sizeof(*to));
	ident = getpid();
	for (int n = 0; n < targets; n++) {
		to[n] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		if (inet_pton(AF_INET, argv[3 + n], &to[n].sin_addr) != 1)
			return 2;
	}
	fd = port ? socket(AF_INET, SOCK_DGRAM, 0) : socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	probes = mmap(NULL, MOST_PROBES * sizeof(*probes), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fd < 0 || probes == MAP_FAILED || bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
		return 1;
	stamp_arrivals(fd);
	getsockname(fd, (struct sockaddr *)&own, &size);
	pthread_create(&threads[0], NULL, sender, NULL);
	pthread_create(&threads[1], NULL, receiver, NULL);
	printf("ready %u %d\n", ntohs(own.sin_port), become_realtime(50));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		char word[16] = "", more[16] = "";
		long long since = 0;

		sscanf(line, "%15s %lld %15s", word, &since, more);
		if (!strcmp(word, "begin")) {
			recording = false;
			usleep(2000);
			count = 0;
			window++;
			printf("%lld\n", now_ns());
			fflush(stdout);
		} else if (!strcmp(word, "last")) {
			long long newest = 0;
			for (uint32_t n = count; n > 0 && !newest; n--)
				newest = probes[n - 1].received ? probes[n - 1].sent : 0;
			printf("%lld\n", newest);
			fflush(stdout);
		} else {
			recording = false;
			usleep(STRAGGLERS_NS / 1000);
			tell(since, !strcmp(more, "all"));
		}
	}
	return 0;
}
