#include "announce_vips.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "../net/ethernet.h"
#include "bind.h"
#include "place.h"

/* After the first round, and after the second. */
static const uint64_t PAUSES_US[ROUNDS - 1] = {100000, 900000};
/* Delay when the interface's queue is full. */
#define QUEUE_PAUSE_US 2000

static void set_due(struct mover *mover, struct entry *entry, uint64_t at_us)
{
	entry->due_us = at_us;
	if (mover->announce_due_us == 0 || at_us < mover->announce_due_us)
		mover->announce_due_us = at_us;
}

static void sent(struct mover *mover, struct entry *entry, uint64_t now)
{
	entry->due_us = 0;
	if (++entry->rounds < ROUNDS)
		set_due(mover, entry, now + PAUSES_US[entry->rounds - 1]);
}

/* One round for at most BATCH addresses of one place. */
static void send_round(struct mover *mover, struct place *place, struct entry **entries, size_t count)
{
	static struct frame frames[BATCH];
	struct sockaddr_ll to[BATCH];
	struct mmsghdr messages[BATCH];
	struct iovec data[BATCH];
	uint64_t now;

	for (size_t i = 0; i < count; i++) {
		frame_announce(&frames[i], &entries[i]->address, place->mac);
		to[i] = (struct sockaddr_ll){.sll_family = AF_PACKET,
					     .sll_protocol = htons(frames[i].protocol),
					     .sll_ifindex = place->ifindex,
					     .sll_halen = 6};
		memcpy(to[i].sll_addr, frames[i].to, 6);
		data[i] = (struct iovec){.iov_base = frames[i].bytes, .iov_len = frames[i].len};
		messages[i] = (struct mmsghdr){
			.msg_hdr = {.msg_name = &to[i], .msg_namelen = sizeof(to[i]), .msg_iov = &data[i], .msg_iovlen = 1}};
	}
	for (size_t done = 0; done < count;) {
		int got = sendmmsg(place->packet_fd, messages + done, (unsigned)(count - done), 0);
		int err = got < 0 ? errno : 0;
		now = now_us();
		for (int i = 0; i < got; i++)
			sent(mover, entries[done++], now);
		if (err == EINTR)
			continue;
		if (err == EAGAIN || err == ENOBUFS) {
			for (; done < count; done++)
				set_due(mover, entries[done], now + QUEUE_PAUSE_US);
		} else if (err != 0) {
			/* Nobody hears an announcement on an interface that is down. The next round may succeed. */
			sent(mover, entries[done++], now);
		}
	}
}

void announce_begin(struct mover *mover, struct place *place, struct entry **entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		entries[i]->rounds = 0;
	send_round(mover, place, entries, count);
}

void announce_continue(struct mover *mover)
{
	struct table *table = &mover->table;
	struct entry *due[BATCH];
	uint64_t now = now_us();
	size_t count = 0;

	mover->announce_due_us = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct entry *entry = &table->entries[i];
		if (entry->due_us == 0 || !entry->bound)
			continue;
		if (entry->due_us > now) {
			set_due(mover, entry, entry->due_us);
			continue;
		}
		if (count == BATCH || (count > 0 && due[0]->place != entry->place)) {
			send_round(mover, due[0]->place, due, count);
			count = 0;
		}
		due[count++] = entry;
	}
	if (count > 0)
		send_round(mover, due[0]->place, due, count);
}

void announce_again(struct mover *mover, uint8_t shard)
{
	uint64_t now = now_us();

	for (size_t i = 0; i < mover->table.count; i++) {
		struct entry *entry = &mover->table.entries[i];
		if (entry->shard != shard || !entry->bound)
			continue;
		entry->rounds = 0;
		place_ready(entry->place);
		set_due(mover, entry, now);
	}
	announce_continue(mover);
}
