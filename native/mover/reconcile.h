/* Binds and unbinds addresses as the table and the states of the shards require. */
#pragma once
#include "mover.h"

/* Applies the difference: unbinds first, then binds and announces. */
void reconcile(struct mover *mover, enum reason reason, uint64_t since_us);
/* Replaces the table. Addresses that are not in the new one are unbound. */
void reconcile_table(struct mover *mover, struct table *table);
/* At the start: finds what an earlier mover left. The next `reconcile` unbinds addresses of shards that this node does not master. */
void reconcile_adopt(struct mover *mover);
/* Checks whether places were replaced. True when addresses must be bound again. */
bool reconcile_places(struct mover *mover);
