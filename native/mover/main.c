/*
 * spout-mover: makes the addresses of a node follow the VRRP state of their shards, with no other process of ours
 * running. keepalived elects, one virtual router a shard, and starts this program as its notify FIFO script:
 *
 *   vrrp_notify_fifo        DIR/notify.fifo
 *   vrrp_notify_fifo_script "spout-mover DIR"        (keepalived appends the path of the FIFO)
 *
 * DIR/addresses, which the agent replaces as a whole, says which addresses belong to which shard:
 *
 *   generation <number that grows>
 *   freeze <ms>                                      a master that slept longer than this has lost the election
 *   router <shard> <virtual router id>
 *   <shard> <address> <path of a namespace, or -> <interface>
 *
 * The addresses of a shard that this node masters are bound and announced; those of all others are unbound.
 * Where the interface forwards, IPv6 addresses are proxied rather than bound (proxied.h).
 *
 * DIR/state.json says what was done. What the mover makes is marked (protocol 0x53): the next mover finds what one left
 * that was killed, and unbinds it before it does anything else, unless the same keepalived still masters the shard.
 *
 * Ends: by SIGTERM, or when keepalived is gone, with everything unbound (0); after a sleep that was too long, with
 * everything unbound and keepalived made to start its election again as backup (75). When keepalived reloads, the
 * addresses stay for the mover that it starts next.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "../daemon/clock.h"
#include "../daemon/directory.h"
#include "../daemon/lock.h"
#include "../daemon/namespace.h"
#include "../daemon/signals.h"
#include "adverts.h"
#include "closer.h"
#include "guard.h"
#include "links.h"
#include "notify.h"
#include "place.h"
#include "reconcile.h"
#include "run.h"
#include "state_file.h"
#include "table.h"

/* Above everything that is not real-time; a move takes milliseconds, and otherwise the mover sleeps. */
#define PRIORITY 10

enum mode { START, RESUME, SWEEP };

struct call {
	enum mode mode;
	int keepalived_fd;
	unsigned resumed;
	char *const *paths; /* DIR and FIFO */
};

static bool read_call(int argc, char **argv, struct call *call)
{
	*call = (struct call){.mode = START, .keepalived_fd = -1, .paths = argv + 1};
	if (argc == 3)
		return true;
	/* With the arguments that the guard passes. */
	if (argc != 6 || (strcmp(argv[1], "--resume") != 0 && strcmp(argv[1], "--sweep") != 0))
		return false;
	*call = (struct call){.mode = argv[1][2] == 'r' ? RESUME : SWEEP,
			      .keepalived_fd = atoi(argv[2]),
			      .resumed = (unsigned)atoi(argv[3]),
			      .paths = argv + 4};
	return true;
}

/* Best effort: without priority, moves on a busy node take longer. */
static void take_priority(void)
{
	const struct sched_param priority = {.sched_priority = PRIORITY};
	struct rlimit limit;

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority) < 0)
		setpriority(PRIO_PROCESS, 0, -20);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		munlockall();
	/* Four descriptors an interface. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool open_sources(struct sources *sources, const char *directory, const char *fifo)
{
	sources->directory = directory_watch(directory);
	if (sources->directory < 0) {
		fprintf(stderr, "spout-mover: %s: %s\n", directory, strerror(errno));
		return false;
	}
	sources->fifo = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (sources->fifo < 0) {
		fprintf(stderr, "spout-mover: %s: %s\n", fifo, strerror(errno));
		return false;
	}
	adverts_open(sources->adverts);
	return true;
}

/* Takes over the states and addresses of an earlier mover. */
static void begin(struct mover *mover, const struct sources *sources)
{
	struct table table;
	uint64_t since = now_us();

	state_inherit(mover);
	if (table_read(mover, &table))
		reconcile_table(mover, &table);
	/* Notifications that keepalived sent meanwhile decide whether the addresses stay. */
	if (sources != NULL)
		read_notifications(mover, sources);
	else
		for (enum state state = STATE_BACKUP; state < STATE_STOPPED; state++)
			shards_change(mover, state, STATE_STOPPED);
	reconcile_adopt(mover);
	reconcile(mover, sources == NULL ? REASON_STOP : REASON_VRRP, since);
	state_write(mover);
}

static int serve(struct mover *mover, struct sources *sources, const struct call *call, struct guard *guard)
{
	bool hand_over = false;
	int code;

	/* After a restart, a mover that holds the lock is a newer one. */
	if (!lock_take(call->paths[0], guard->pid, call->mode == START))
		return call->mode == START ? 1 : 0;
	sources->links = links_open();
	if (!namespace_remember() || !closer_start() || !open_sources(sources, call->paths[0], call->paths[1]))
		return 1;
	take_priority();
	begin(mover, sources);
	code = run(mover, sources, &hand_over);
	guard_farewell(guard, hand_over ? FAREWELL_HAND_OVER : FAREWELL_END);
	return code;
}

static int sweep(struct mover *mover, const struct call *call)
{
	if (!lock_take(call->paths[0], 0, false))
		return 0;
	links_open();
	if (!namespace_remember() || !closer_start())
		return 1;
	begin(mover, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static struct mover mover;
	struct sources sources = {0};
	struct guard guard;
	struct call call;
	int code;

	if (!read_call(argc, argv, &call)) {
		fprintf(stderr, "usage: spout-mover DIR FIFO\n");
		return 2;
	}
	prctl(PR_SET_NAME, "spout-mover");
	mover.directory = call.paths[0];
	/* Backup until keepalived notifies us. */
	for (size_t i = 0; i < SHARDS; i++)
		mover.shards[i].since_ms = epoch_ms();
	sources.signals = signals_open();
	sources.resumed = call.mode == RESUME;
	if (call.mode == START)
		keepalived_parent(&mover.keepalived);
	else if (!keepalived_inherit(&mover.keepalived, call.keepalived_fd))
		call.mode = SWEEP;
	if (call.mode == SWEEP)
		return sweep(&mover, &call);
	guard_start(&guard, &mover.keepalived, call.resumed, call.paths);
	code = serve(&mover, &sources, &call, &guard);
	/* Also after a failed start: a restart would fail too. */
	guard_farewell(&guard, FAREWELL_END);
	return code;
}
