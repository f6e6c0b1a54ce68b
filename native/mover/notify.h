/* What keepalived says on its notify FIFO: `INSTANCE "shard3" MASTER 200`. */
#pragma once
#include "mover.h"

/* Takes bytes of the FIFO; whole lines change the states of shards. True when a state changed. */
bool notify_receive(struct mover *mover, const void *data, size_t len);
/* Makes every shard that is in one state be in another. True when there was one. */
bool shards_change(struct mover *mover, enum state from, enum state to);
