/*
 * Many TCP connections to an echo behind an address: idle ones, and busy ones that send 8 bytes every few milliseconds
 * once the last 8 came back. Reports which of them survive an event.
 *
 * flows ADDRESS PORT IDLE BUSY BUSY_INTERVAL_MS. Lines on stdin, each answered by one:
 * `open`         closes old flows and opens all; prints how many are open, how many took more than one try, and for some
 *                that are not open the port and the reason.
 * `heard MS`     waits until every idle flow has received data from its member; prints how many have.
 * `check MS`     sends on every idle flow and waits for the echoes, and for one more echo of every busy flow; prints a
 *                JSON object: idle and busy, each {survived, reset, hung}; slowestMs, until the last idle echo;
 *                pauseMs, the longest pause of a busy flow since `open`; survived and of, over both kinds.
 *
 * A hung flow is one without an echo in time. Linux sends again after 0.2, 0.4, 0.8 ... s, so MS should be some
 * seconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

#define MESSAGE 8
#define OPEN_AT_ONCE 64
#define OPEN_LIMIT_MS 10000
#define OPEN_AGAIN 3
#define NAMED 8

enum state { CLOSED, CONNECTING, OPEN, BROKEN };
struct flow {
	int fd;
	enum state state;
	unsigned received;	/* bytes of echoes; pushes of the member are counted apart */
	unsigned expected;
	unsigned pushed;
	long long asked;	/* when the newest question was sent */
	long long answered;	/* when the newest echo was whole */
	long long due;
	unsigned port;		/* of the client */
	int error;		/* what broke it */
};

static struct sockaddr_in to = { .sin_family = AF_INET };
static struct flow *flows;
static int loop, idle, busy;
static long long beat_ns, longest_pause, asked_all;
static int64_t connecting, opened;

static bool is_busy(const struct flow *f)
{
	return f - flows >= idle;
}

static void broken(struct flow *f, int error)
{
	/* It is on its way until its first echo. */
	if (!f->answered)
		connecting--;
	f->state = BROKEN;
	f->error = error;
	close(f->fd);
}

static void say(struct flow *f, long long now)
{
	char text[MESSAGE + 1] = "I.......";

	if (is_busy(f))
		text[0] = 'B';
	if (send(f->fd, text, MESSAGE, MSG_NOSIGNAL) != MESSAGE) {
		broken(f, errno);
		return;
	}
	f->expected += MESSAGE;
	f->asked = now;
}

static void begin(struct flow *f)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = f };
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	int one = 1;

	*f = (struct flow){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .state = CONNECTING };
	setsockopt(f->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	connecting++;
	if (f->fd < 0 || (connect(f->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)) {
		broken(f, errno);
		return;
	}
	if (getsockname(f->fd, (struct sockaddr *)&from, &length) == 0)
		f->port = ntohs(from.sin_port);
	epoll_ctl(loop, EPOLL_CTL_ADD, f->fd, &event);
}

static void heard(struct flow *f, long long now)
{
	char data[512];
	ssize_t size;

	if (f->state == CONNECTING) {
		int error = 0;
		socklen_t length = sizeof(error);

		getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &error, &length);
		if (error) {
			broken(f, error);
			return;
		}
		f->state = OPEN;
		say(f, now);
	}
	while (f->state == OPEN && (size = recv(f->fd, data, sizeof(data), 0)) != 0) {
		if (size < 0) {
			if (errno != EAGAIN)
				broken(f, errno);
			return;
		}
		/* Messages come whole or, after losses, in multiples: a push is known by its first byte. */
		for (ssize_t at = 0; at < size; at += MESSAGE)
			if (data[at] == 'P')
				f->pushed++;
			else
				f->received += size - at < MESSAGE ? size - at : MESSAGE;
		if (f->received == f->expected) {
			if (!f->answered) {
				connecting--;
				opened++;
			}
			if (is_busy(f) && f->answered && now - f->answered > longest_pause)
				longest_pause = now - f->answered;
			f->answered = now;
			f->due = f->asked + beat_ns;
		}
	}
	if (f->state == OPEN)
		broken(f, 0);
}

/* Lets everything happen for a moment. */
static void go_on(void)
{
	struct epoll_event events[256];
	int count = epoll_wait(loop, events, 256, 1);
	long long now = now_ns();

	for (int n = 0; n < count; n++)
		if (events[n].data.ptr)
			heard(events[n].data.ptr, now);
	for (int n = idle; n < idle + busy; n++) {
		struct flow *f = &flows[n];

		if (f->state == OPEN && f->answered && f->received == f->expected && now >= f->due)
			say(f, now);
	}
}

static void open_all(void)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	long long limit = now_ns() + OPEN_LIMIT_MS * MS;
	int next = 0, again = 0;

	for (int n = 0; n < idle + busy; n++)
		if (flows[n].state == OPEN || flows[n].state == CONNECTING) {
			setsockopt(flows[n].fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
			close(flows[n].fd);
			flows[n].state = CLOSED;
		}
	connecting = opened = longest_pause = 0;
	for (int round = 0; round <= OPEN_AGAIN; round++, next = 0) {
		while ((next < idle + busy || connecting > 0) && now_ns() < limit) {
			for (; next < idle + busy && connecting < OPEN_AT_ONCE; next++)
				if (flows[next].state == CLOSED || flows[next].state == BROKEN) {
					again += round > 0;
					begin(&flows[next]);
				}
			go_on();
		}
	}
	longest_pause = 0;
	printf("%lld %d", (long long)opened, again);
	for (int n = 0, named = 0; n < idle + busy && named < NAMED; n++)
		if (flows[n].state != OPEN || !flows[n].answered) {
			const struct flow *f = &flows[n];
			const char *why = f->state == CONNECTING ? "no answer to its SYN" : f->state == OPEN ? "no echo"
					  : f->error ? strerror(f->error) : "closed by the member";

			printf("%s%u: %s", named++ ? ", " : " ", f->port, why);
		}
	printf("\n");
}

static void wait_for_pushes(long long ms)
{
	long long limit = now_ns() + ms * MS;
	int got;

	do {
		go_on();
		got = 0;
		for (int n = 0; n < idle; n++)
			got += flows[n].pushed > 0;
	} while (got < idle && now_ns() < limit);
	for (int n = 0; n < idle; n++)
		flows[n].pushed = 0;
	printf("%d\n", got);
}

static bool lives(const struct flow *f)
{
	return f->state == OPEN && f->answered >= asked_all;
}

static void tell(const char *name, int from, int to, int *survived)
{
	int reset = 0, hung = 0, fine = 0;

	for (int n = from; n < to; n++)
		if (lives(&flows[n]))
			fine++;
		else if (flows[n].state == BROKEN)
			reset++;
		else
			hung++;
	*survived += fine;
	printf("\"%s\":{\"survived\":%d,\"reset\":%d,\"hung\":%d},", name, fine, reset, hung);
}

static void check(long long ms)
{
	long long limit = now_ns() + ms * MS, slowest = 0;
	int waiting, survived = 0;

	asked_all = now_ns();
	for (int n = 0; n < idle; n++)
		if (flows[n].state == OPEN)
			say(&flows[n], asked_all);
	do {
		go_on();
		waiting = 0;
		for (int n = 0; n < idle + busy; n++)
			waiting += flows[n].state == OPEN && !lives(&flows[n]);
	} while (waiting && now_ns() < limit);
	for (int n = 0; n < idle; n++)
		if (lives(&flows[n]) && flows[n].answered - asked_all > slowest)
			slowest = flows[n].answered - asked_all;
	for (int n = idle; n < idle + busy; n++)
		if (flows[n].state == OPEN && !lives(&flows[n]) && now_ns() - flows[n].answered > longest_pause)
			longest_pause = now_ns() - flows[n].answered;
	printf("{");
	tell("idle", 0, idle, &survived);
	tell("busy", idle, idle + busy, &survived);
	printf("\"slowestMs\":%.1f,\"pauseMs\":%.1f,\"survived\":%d,\"of\":%d}\n", slowest / 1e6, longest_pause / 1e6,
	       survived, idle + busy);
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 16384, 16384 };
	struct epoll_event commands = { .events = EPOLLIN, .data.ptr = NULL };
	char line[128];

	if (argc != 6 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons(atoi(argv[2]));
	idle = atoi(argv[3]);
	busy = atoi(argv[4]);
	beat_ns = atoll(argv[5]) * MS;
	flows = calloc(idle + busy, sizeof(*flows));
	setrlimit(RLIMIT_NOFILE, &limit);
	loop = epoll_create1(0);
	epoll_ctl(loop, EPOLL_CTL_ADD, 0, &commands);
	become_realtime(30);
	for (;;) {
		char word[16] = "";
		long long ms = 0;
		fd_set in;
		struct timeval none = { 0 };

		go_on();
		FD_ZERO(&in);
		FD_SET(0, &in);
		if (select(1, &in, NULL, NULL, &none) != 1)
			continue;
		if (read(0, line, sizeof(line) - 1) <= 0)
			return 0;
		sscanf(line, "%15s %lld", word, &ms);
		memset(line, 0, sizeof(line));
		if (!strcmp(word, "open"))
			open_all();
		else if (!strcmp(word, "heard"))
			wait_for_pushes(ms);
		else
			check(ms);
		fflush(stdout);
	}
}
