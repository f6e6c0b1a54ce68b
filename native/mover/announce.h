/* Tells segments whose the addresses are: gratuitous ARP and unsolicited neighbour advertisements. */
#pragma once
#include "mover.h"

/* The first round for addresses of one place, and the later ones to come. */
void announce_begin(struct mover *mover, struct place *place, struct entry **entries, size_t count);
/* Sends what is due by now. */
void announce_continue(struct mover *mover);
/* Starts over for all addresses of a shard. */
void announce_again(struct mover *mover, uint8_t shard);
