/* DIR/state.json: what the mover did, for the agent, and for the next mover. */
#pragma once
#include "mover.h"

/* Written aside and renamed. */
void state_write(struct mover *mover);
/* Counters and last moves of an earlier mover; its states as well when the same keepalived told them. */
void state_inherit(struct mover *mover);
