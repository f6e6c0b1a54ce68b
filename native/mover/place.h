/* The interfaces that addresses are bound to, by namespace and name. */
#pragma once
#include "mover.h"

/* The place of that name; opened when it is new. Never NULL: one that cannot be opened says so in `err`. */
struct place *place_find(struct mover *mover, const char *path, const char *dev);
/* Opens what failed before, and lets go of what is another namespace or interface by now. False: nothing can be done there. */
bool place_ready(struct place *place);
/* Whether it is still the namespace and the interface it was when it was opened. */
bool place_same(const struct place *place);
void place_close(struct place *place);
/* Forgets the places that no entry points to. */
void places_drop_unused(struct mover *mover);
