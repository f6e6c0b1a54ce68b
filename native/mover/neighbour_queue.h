/*
 * Packets that the kernel queues for neighbours that it cannot resolve. An advert that keepalived sends after a link failed,
 * but before keepalived notices, is queued. If it were sent once the link is back, the node that took over would see a master
 * and give the shard up, and nobody would have it until that master times out.
 */
#pragma once
#include "mover.h"

/* Drops these packets, for all neighbours on the interface of this place. */
void neighbour_queue_flush(const struct place *place);
