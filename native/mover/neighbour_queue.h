/*
 * What the kernel keeps for neighbours that it cannot find. An advert sent between the loss of a link and keepalived's word
 * of it lies there, and goes out when the link is back: the node that took over would hear of a master before it and give
 * the shard up, and nobody would have it until that one is found to be gone.
 */
#pragma once
#include "mover.h"

/* Has the kernel throw it away, for all neighbours on the interface of this place. */
void neighbour_queue_flush(const struct place *place);
