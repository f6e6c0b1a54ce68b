/* Announces bound VIPs by gratuitous ARP and unsolicited neighbour advertisements, in several rounds. */
#pragma once
#include "mover.h"

/* Sends the first round for addresses of one place, and schedules the others. */
void announce_begin(struct mover *mover, struct place *place, struct entry **entries, size_t count);
/* Sends what is due by now. */
void announce_continue(struct mover *mover);
/* Starts over for all addresses of a shard. */
void announce_again(struct mover *mover, uint8_t shard);
