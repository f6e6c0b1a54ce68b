/* Parses the lines of keepalived's notify FIFO: `INSTANCE "shard3" MASTER 200`. */
#pragma once
#include "mover.h"

/* Feeds bytes of the FIFO. Each whole line changes the state of a shard. True when a state changed. */
bool notify_receive(struct mover *mover, const void *data, size_t len);
/* Moves all shards of state `from` to state `to`. True when there was one. */
bool shards_change(struct mover *mover, enum state from, enum state to);
