/*
 * Detects interfaces that come up again. The kernel drops proxied neighbours when an interface goes down, and (before
 * 6.16) when it loses its carrier. VRRP does not notice, since a tenant's segment may fail alone.
 */
#pragma once
#include "mover.h"

/* A descriptor that is readable when an interface of a place may have changed; -1 with errno. */
int links_open(void);
/* Watches the interfaces of the caller's namespace. If that fails, the agent finds what the kernel dropped. */
void links_watch(struct place *place);
void links_forget(struct place *place);
/* Reads events. True when proxied addresses must be bound again. */
bool links_read(struct mover *mover);
/* Flushes the neighbour queues of fabrics whose links are down. False when no such link is down. */
bool links_flush(const struct mover *mover);
