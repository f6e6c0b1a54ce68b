/*
 * spout-flows: replicates flows between the nodes of a group. Each node sends the flows that it translates to a shared
 * address, and writes the flows of its peers into the connection tracking of its own domains. A node that takes such an
 * address over then translates the flows as before.
 *
 *   spout-flows DIR          in the namespace that faces the fabric
 *
 * DIR/config names peers, domains and shared addresses (config.h). It is read again when it is replaced. DIR/state.json
 * reports what is replicated. SIGTERM ends the process; its entries stay in the kernel until they expire.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "../daemon/directory.h"
#include "../daemon/lock.h"
#include "../daemon/namespace.h"
#include "../daemon/signals.h"
#include "attach.h"
#include "config.h"
#include "counts.h"
#include "peer.h"
#include "scan.h"
#include "send.h"
#include "state_file.h"
#include "writer.h"

#define EVENTS 64
#define TICK_US US_PER_S
#define STATE_EVERY_US US_PER_S
/* Ahead of ordinary processes: records that were not sent when the node dies are lost. */
#define NICE (-10)

static bool watch(const struct flows *flows, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return fd >= 0 && epoll_ctl(flows->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void tick(struct flows *flows)
{
	config_check(flows);
	peers_listen(flows);
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next) {
		domain_attach(flows, domain);
		counts_tick(flows, domain);
	}
	peers_send_hello(flows);
}

/* Runs everything that is due. */
static void keep_time(struct flows *flows)
{
	uint64_t now = now_us();

	if (flows->tick_us <= now) {
		flows->tick_us = now + TICK_US;
		tick(flows);
	}
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		if (domain->event_fd >= 0 && domain->scan_us <= now)
			scan_table(flows, domain);
	if (flows->flush_us != 0 && flows->flush_us <= now)
		send_flush(flows);
	if (flows->send_us != 0 && flows->send_us <= now)
		send_continue(flows);
	if (flows->errors_changed || flows->written_us + STATE_EVERY_US <= now)
		state_write(flows);
}

static int wait_ms(const struct flows *flows)
{
	uint64_t now = now_us(), next = flows->tick_us;

	for (const struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		if (domain->event_fd >= 0 && domain->scan_us < next)
			next = domain->scan_us;
	if (flows->flush_us != 0 && flows->flush_us < next)
		next = flows->flush_us;
	if (flows->send_us != 0 && flows->send_us < next)
		next = flows->send_us;
	/* Rounded up, since waking early would spin. */
	return next <= now ? 0 : (int)((next - now + 999) / 1000);
}

static void read_source(struct flows *flows, const struct source *source)
{
	source->read(flows, source->domain);
}

/* An event's pointer is the address of `signals`, `directory` or the socket, or a domain's source. */
static int run(struct flows *flows, const int *signals, const int *directory)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int count, wait;
		keep_time(flows);
		wait = wait_ms(flows);
		count = epoll_wait(flows->epoll_fd, events, EVENTS, wait);
		if (count < 0 && errno != EINTR)
			return 1;
		bool reload = false, end = false;
		for (int i = 0; i < count; i++) {
			void *what = events[i].data.ptr;
			if (what == signals)
				end = true;
			else if (what == directory)
				reload = directory_changed(*directory, "config");
			else if (what == &flows->socket_fd)
				peers_receive(flows);
			else
				read_source(flows, what);
		}
		/* Last, since it may free domains that other events point to. */
		if (reload)
			config_load(flows);
		if (end) {
			send_flush(flows);
			state_write(flows);
			writer_finish();
			return 0;
		}
	}
}

static void drop(struct flows *flows)
{
	while (flows->domains != NULL) {
		struct domain *domain = flows->domains;
		flows->domains = domain->next;
		domain_free(domain);
	}
	while (flows->peers != NULL) {
		struct peer *peer = flows->peers;
		flows->peers = peer->next;
		free(peer);
	}
	buf_reset(&flows->pending, 0);
}

int main(int argc, char **argv)
{
	static struct flows flows = {.socket_fd = -1};
	int signals, directory, code;

	if (argc != 2) {
		fprintf(stderr, "usage: spout-flows DIR\n");
		return 2;
	}
	prctl(PR_SET_NAME, "spout-flows");
	flows.directory = argv[1];
	signals = signals_open();
	directory = directory_watch(argv[1]);
	if (directory < 0) {
		fprintf(stderr, "spout-flows: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (!lock_take(argv[1], 0, true)) {
		fprintf(stderr, "spout-flows: %s: another one holds the lock\n", argv[1]);
		return 1;
	}
	flows.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!namespace_remember() || !watch(&flows, signals, &signals) || !watch(&flows, directory, &directory)) {
		fprintf(stderr, "spout-flows: %s\n", strerror(errno));
		return 1;
	}
	setpriority(PRIO_PROCESS, 0, NICE);
	config_load(&flows);
	code = run(&flows, &signals, &directory);
	drop(&flows);
	return code;
}
