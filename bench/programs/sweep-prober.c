/*
 * Probes many addresses by ICMP echo, cheaply: the measured system runs on the same machine and must not be slowed.
 * One thread sends in batches, once a tick, and reads all answers that have come; the kernel timestamps arrivals. Its
 * priority is below that of what elects and moves addresses, and it reports its longest delay.
 *
 * Before a fault each address is probed once an INTERVAL_MS. After `fault`, the addresses that have not answered a
 * later probe are probed in turn, BUDGET of them each millisecond: the fewer are left, the more often.
 *
 * sweep-prober INTERVAL_MS BUDGET ADDRESS...: all IPv4 or all IPv6.
 *
 * It prints `ready REALTIME`. Lines on stdin:
 * `begin`          starts a window; prints its time (ns, CLOCK_MONOTONIC).
 * `fault SINCE_NS` a fault was made then; prints the number of addresses.
 * `left`           prints how many of them have not answered since.
 * `end SINCE_NS`   ends it, waits a moment for stragglers and prints one JSON object:
 *   sent, lost; touched: addresses that lost any probe; stallMs: its own longest delay, in the window, and
 *   stallInOutageMs from SINCE_NS to the end of the outage. The last address was back between these two:
 *   silentMs, from SINCE_NS to the sending of the last lost probe to any address, and
 *   backMs, to the arrival of the last first answer; -1 when one of them never answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"
#include "icmp-echo.h"

#define MOST_PROBES (4u << 20)
#define HEAP 256
#define TICK_NS (10 * MS)
#define FAST_TICK_NS MS

struct probe { uint32_t target; long long sent, received; };
struct body { uint32_t window, number; };
struct echo { uint8_t type, code; uint16_t sum, id, seq; struct body body; };

static struct probe *probes;
static struct sockaddr_storage *to;
static bool *back;
static int targets, budget, fd, family, left;
static long long interval_ns, fault_ns, longest_ns, outage_ns;
static uint32_t window, count, next_target;
static bool recording;
static uint16_t ident;

static void ask(const uint32_t *whom, int many)
{
	static struct echo echoes[HEAP];
	static struct mmsghdr messages[HEAP];
	static struct iovec parts[HEAP];

	for (int n = 0; n < many; n++) {
		echoes[n] = (struct echo){ .type = family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST, .id = ident,
					   .body = { recording ? window : UINT32_MAX, count } };
		if (recording && count < MOST_PROBES)
			probes[count++] = (struct probe){ .target = whom[n], .sent = now_ns() };
		if (family == AF_INET)
			echoes[n].sum = checksum(&echoes[n], sizeof(echoes[n]));
		parts[n] = (struct iovec){ &echoes[n], sizeof(echoes[n]) };
		messages[n] = (struct mmsghdr){ .msg_hdr = { .msg_name = &to[whom[n]], .msg_iov = &parts[n], .msg_iovlen = 1,
			.msg_namelen = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6) } };
	}
	for (int done = 0; done < many;) {
		int got = sendmmsg(fd, messages + done, many - done, MSG_DONTWAIT);
		/* A probe that cannot be sent now counts as lost. */
		done += got > 0 ? got : 1;
	}
}

static void note(const struct echo *echo, long long at)
{
	struct probe *probe;

	if (echo->type != (family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) || echo->id != ident ||
	    echo->body.window != window || echo->body.number >= count)
		return;
	probe = &probes[echo->body.number];
	if (probe->received)
		return;
	probe->received = at;
	if (!fault_ns || probe->sent <= fault_ns || back[probe->target])
		return;
	back[probe->target] = true;
	left--;
}

static void take_answers(void)
{
	static struct mmsghdr messages[HEAP];
	static struct iovec parts[HEAP];
	static char data[HEAP][128], control[HEAP][64];
	int got;

	do {
		long long now, ahead;

		for (int n = 0; n < HEAP; n++) {
			parts[n] = (struct iovec){ data[n], sizeof(data[n]) };
			messages[n].msg_hdr = (struct msghdr){ .msg_iov = &parts[n], .msg_iovlen = 1, .msg_control = control[n],
							       .msg_controllen = sizeof(control[n]) };
		}
		got = recvmmsg(fd, messages, HEAP, MSG_DONTWAIT, NULL);
		now = now_ns();
		ahead = clock_ns(CLOCK_REALTIME) - now;
		for (int n = 0; n < got; n++) {
			size_t head = family == AF_INET ? ((struct iphdr *)data[n])->ihl * 4 : 0;

			if (messages[n].msg_len >= head + sizeof(struct echo))
				note((struct echo *)(data[n] + head), arrival_ns(&messages[n].msg_hdr, now, ahead));
		}
	} while (got == HEAP);
}

/* Those whose turn it is. */
static void ask_some(void)
{
	uint32_t whom[HEAP];
	int many = fault_ns && left ? budget : (int)(targets * TICK_NS / interval_ns) + 1, found = 0;

	for (int looked = 0; looked < targets && found < many && found < HEAP; looked++) {
		uint32_t target = next_target;
		next_target = (next_target + 1) % targets;
		if (!fault_ns || !left || !back[target])
			whom[found++] = target;
	}
	ask(whom, found);
}

static void tell(long long since)
{
	long long silent = 0, last_back = 0, *answered = calloc(targets, sizeof(*answered));
	uint32_t lost = 0, touched = 0, missing = 0;
	bool *touches = calloc(targets, sizeof(*touches));

	for (uint32_t n = 0; n < count; n++) {
		struct probe *p = &probes[n];

		if (!p->received) {
			lost++;
			touches[p->target] = true;
			if (since && p->sent - since > silent)
				silent = p->sent - since;
		} else if (since && p->sent > since && (!answered[p->target] || p->received < answered[p->target])) {
			answered[p->target] = p->received;
		}
	}
	for (int target = 0; target < targets; target++) {
		touched += touches[target];
		missing += since && !answered[target];
		if (since && answered[target] - since > last_back)
			last_back = answered[target] - since;
	}
	printf("{\"sent\":%u,\"lost\":%u,\"touched\":%u,\"silentMs\":%.3f,\"backMs\":%.3f,\"stallMs\":%.3f,\"stallInOutageMs\":%.3f}\n",
	       count, lost, touched, silent / 1e6, missing ? -1.0 : last_back / 1e6, longest_ns / 1e6, outage_ns / 1e6);
	fflush(stdout);
	free(answered);
	free(touches);
}

static void begin(void)
{
	window++;
	count = 0;
	fault_ns = longest_ns = outage_ns = 0;
	recording = true;
	printf("%lld\n", now_ns());
}

static void obey(const char *line)
{
	char word[16] = "";
	long long since = 0;

	sscanf(line, "%15s %lld", word, &since);
	if (!strcmp(word, "begin")) {
		begin();
	} else if (!strcmp(word, "fault")) {
		memset(back, 0, targets * sizeof(*back));
		fault_ns = since;
		left = targets;
		printf("%d\n", left);
	} else if (!strcmp(word, "left")) {
		printf("%d\n", left);
	} else {
		recording = false;
		usleep(STRAGGLERS_NS / 1000);
		take_answers();
		tell(since);
		fault_ns = 0;
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sched_param low = { .sched_priority = 5 };
	bool realtime;
	long long due;
	char line[128];

	if (argc < 4)
		return 2;
	interval_ns = atoll(argv[1]) * MS;
	budget = atoi(argv[2]);
	targets = argc - 3;
	to = calloc(targets, sizeof(*to));
	back = calloc(targets, sizeof(*back));
	ident = getpid();
	family = strchr(argv[3], ':') ? AF_INET6 : AF_INET;
	for (int n = 0; n < targets; n++) {
		to[n].ss_family = family;
		if (inet_pton(family, argv[3 + n], family == AF_INET ? (void *)&((struct sockaddr_in *)&to[n])->sin_addr
								     : (void *)&((struct sockaddr_in6 *)&to[n])->sin6_addr) != 1)
			return 2;
	}
	fd = socket(family, SOCK_RAW, family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	probes = mmap(NULL, MOST_PROBES * sizeof(*probes), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fd < 0 || probes == MAP_FAILED)
		return 1;
	if (family == AF_INET6) {
		struct icmp6_filter filter;
		ICMP6_FILTER_SETBLOCKALL(&filter);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof(filter));
	}
	stamp_arrivals(fd);
	realtime = sched_setscheduler(0, SCHED_FIFO, &low) == 0;
	printf("ready %d\n", realtime);
	fflush(stdout);
	due = now_ns();
	for (;;) {
		struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
		long long now = now_ns(), wait = due - now;
		struct timespec pause = { wait > 0 ? wait / SECOND : 0, wait > 0 ? wait % SECOND : 0 };

		if (ppoll(&input, 1, &pause, NULL) > 0) {
			if (!fgets(line, sizeof(line), stdin))
				return 0;
			obey(line);
		}
		now = now_ns();
		if (now < due)
			continue;
		if (now - due > longest_ns)
			longest_ns = now - due;
		if (fault_ns && left && now - due > outage_ns)
			outage_ns = now - due;
		take_answers();
		ask_some();
		due = now + (fault_ns && left ? FAST_TICK_NS : TICK_NS);
	}
}
