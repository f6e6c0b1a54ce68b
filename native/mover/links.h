/*
 * Interfaces that come up again. The kernel forgets the neighbours it answers for when an interface goes down, and when it
 * loses its carrier (before 6.16), though nothing about the shards changes: a tenant's segment may fail alone.
 */
#pragma once
#include "mover.h"

/* A descriptor that is readable when an interface of a place may have changed; -1 with errno. */
int links_open(void);
/* Watches the interfaces of the namespace that the caller is in. Without, what was forgotten is found by the agent. */
void links_watch(struct place *place);
void links_forget(struct place *place);
/* Takes note of what happened; true when proxied addresses have to be bound anew. */
bool links_read(struct mover *mover);
