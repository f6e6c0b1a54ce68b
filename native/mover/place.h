/* The interfaces that addresses are bound to, by namespace and name. */
#pragma once
#include "mover.h"

/* Finds the place, or opens it. Never NULL: if it cannot be opened, `err` says why. */
struct place *place_find(struct mover *mover, const char *path, const char *dev);
/* Opens a place that failed before, and reopens one whose namespace or interface was replaced. False when the place is unusable. */
bool place_ready(struct place *place);
/* Whether namespace and interface are the ones that were opened. */
bool place_same(const struct place *place);
void place_close(struct place *place);
/* Closes the places that no entry uses. */
void places_drop_unused(struct mover *mover);
