/* Makes the addresses of the node follow the table and the states of the shards. */
#pragma once
#include "mover.h"

/* Unbinds what no longer belongs here, then binds and announces what does. Only the difference. */
void reconcile(struct mover *mover, enum reason reason, uint64_t since_us);
/* Takes a new table; what left it is unbound. */
void reconcile_table(struct mover *mover, struct table *table);
/* At the start: finds what an earlier mover left. Bound and not ours is removed by the next `reconcile`. */
void reconcile_adopt(struct mover *mover);
/* Looks whether places are still the same; true when addresses have to be bound anew. */
bool reconcile_places(struct mover *mover);
