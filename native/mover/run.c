#include "run.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../daemon/directory.h"
#include "adverts.h"
#include "announce_vips.h"
#include "keepalived.h"
#include "links.h"
#include "notify.h"
#include "reconcile.h"
#include "state_file.h"
#include "table.h"

#define TICK_US 20000
#define CHECK_US 5000000
/*
 * How often the neighbour queue is flushed while a fabric's link is down. Flushing it once the link is back is too late
 * when the peer's ARP request comes first: the kernel then sends what it queued.
 */
#define FLUSH_US 50000
/*
 * keepalived writes STOP, or closes the FIFO, within a millisecond after its SIGTERM, unless it gets no processor. A
 * mover that stops before keepalived closed the FIFO for a reload would unbind addresses that stay here.
 */
#define TERM_US 2000000

enum source { FIFO, SIGNALS, DIRECTORY, ADVERTS, ADVERTS6, LINKS, SOURCES };

bool read_notifications(struct mover *mover, const struct sources *sources)
{
	char data[4096];
	bool changed = false;
	ssize_t len;

	while ((len = read(sources->fifo, data, sizeof(data))) > 0)
		changed = notify_receive(mover, data, (size_t)len) || changed;
	return changed;
}

static void take_table(struct mover *mover)
{
	struct table table;
	uint64_t since = now_us();

	if (!table_read(mover, &table))
		return;
	reconcile_table(mover, &table);
	reconcile(mover, REASON_VRRP, since);
}

static void earlier(uint64_t *next, uint64_t at)
{
	if (at != 0 && (*next == 0 || at < *next))
		*next = at;
}

/* Runs what is due. Returns when the next is due. */
static uint64_t keep_time(struct mover *mover)
{
	uint64_t now = now_us(), next;

	if (mover->announce_due_us != 0 && mover->announce_due_us <= now)
		announce_continue(mover);
	next = adverts_reannounce(mover);
	now = now_us();
	if (mover->check_us <= now) {
		mover->check_us = now + CHECK_US;
		if (reconcile_places(mover))
			mover->retry_us = now;
	}
	if (mover->retry_us != 0 && mover->retry_us <= now)
		reconcile(mover, REASON_VRRP, now);
	if (mover->flush_us != 0 && mover->flush_us <= now)
		mover->flush_us = links_flush(mover) ? now + FLUSH_US : 0;
	earlier(&next, mover->announce_due_us);
	earlier(&next, mover->retry_us);
	earlier(&next, mover->check_us);
	earlier(&next, mover->flush_us);
	return next;
}

static int wait_ms(uint64_t next_us, bool tick)
{
	uint64_t now = now_us(), wait = next_us <= now ? 0 : next_us - now;

	if (tick && wait > TICK_US)
		wait = TICK_US;
	/* Rounded up, since waking early would spin. */
	return (int)((wait + 999) / 1000);
}

/* Unbinds everything at once. */
static void let_go(struct mover *mover, enum state to, enum reason reason, uint64_t since)
{
	shards_change(mover, STATE_MASTER, to);
	reconcile(mover, reason, since);
}

static int stop(struct mover *mover)
{
	uint64_t since = now_us();

	let_go(mover, STATE_STOPPED, REASON_STOP, since);
	shards_change(mover, STATE_BACKUP, STATE_STOPPED);
	shards_change(mover, STATE_FAULT, STATE_STOPPED);
	state_write(mover);
	return 0;
}

static int give_way(struct mover *mover)
{
	uint64_t since = now_us();

	/* First, since keepalived must not send another advert. */
	keepalived_give_way(&mover->keepalived);
	let_go(mover, STATE_BACKUP, REASON_FROZEN, since);
	state_write(mover);
	return EXIT_FROZEN;
}

static bool terminated(const struct sources *sources)
{
	struct signalfd_siginfo signal;
	bool any = false;

	while (read(sources->signals, &signal, sizeof(signal)) == sizeof(signal))
		any = true;
	return any;
}

static bool all_stopped(const struct mover *mover)
{
	for (size_t i = 0; i < SHARDS; i++)
		if (mover->shards[i].known && mover->shards[i].state != STATE_STOPPED)
			return false;
	return true;
}

/*
 * The FIFO's other end is closed. keepalived closes it when it reloads, after it sent its script SIGTERM, and starts
 * the next mover 15 ms later without telling it any states; or when it is gone.
 */
static bool is_reload(const struct mover *mover, const struct sources *sources, bool terminating)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	if (!terminating && !sources->resumed)
		return false;
	/* A dying process closes its files just before its pidfd shows that it ended. */
	nanosleep(&pause, NULL);
	return keepalived_alive(&mover->keepalived) && !all_stopped(mover);
}

int run(struct mover *mover, struct sources *sources, bool *hand_over)
{
	struct pollfd polled[SOURCES] = {[FIFO] = {.fd = sources->fifo, .events = POLLIN},
					 [SIGNALS] = {.fd = sources->signals, .events = POLLIN},
					 [DIRECTORY] = {.fd = sources->directory, .events = POLLIN},
					 [ADVERTS] = {.fd = sources->adverts[0], .events = POLLIN},
					 [ADVERTS6] = {.fd = sources->adverts[1], .events = POLLIN},
					 [LINKS] = {.fd = sources->links, .events = POLLIN}};
	uint64_t term_us = 0;

	for (;;) {
		uint64_t next = keep_time(mover), before, after;
		bool watching = mover->table.freeze_us > 0 && masters_any(mover);
		int wait;

		if (mover->changed)
			state_write(mover);
		earlier(&next, term_us);
		wait = wait_ms(next, watching);
		before = now_us();
		if (poll(polled, SOURCES, wait) < 0 && errno != EINTR)
			return 1;
		after = now_us();
		if (watching && after - before > (uint64_t)wait * 1000 + mover->table.freeze_us)
			return give_way(mover);
		if (polled[SIGNALS].revents != 0 && terminated(sources) && term_us == 0)
			term_us = after + TERM_US;
		if (polled[FIFO].revents != 0 && read_notifications(mover, sources))
			reconcile(mover, REASON_VRRP, after);
		if ((polled[FIFO].revents & POLLHUP) != 0) {
			if (terminated(sources))
				term_us = after;
			*hand_over = is_reload(mover, sources, term_us != 0);
			if (!*hand_over)
				return stop(mover);
			state_write(mover);
			return 0;
		}
		if (term_us != 0 && term_us <= after)
			return stop(mover);
		if (polled[ADVERTS].revents != 0)
			adverts_read(mover, sources->adverts[0]);
		if (polled[ADVERTS6].revents != 0)
			adverts_read(mover, sources->adverts[1]);
		if (polled[LINKS].revents != 0 && links_read(mover))
			reconcile(mover, REASON_VRRP, after);
		if (polled[DIRECTORY].revents != 0 && directory_changed(sources->directory, "addresses"))
			take_table(mover);
	}
}
