/* DIR/state.json: reports to the agent what the mover did, and keeps its state for the next mover. */
#pragma once
#include "mover.h"

/* Written aside and renamed. */
void state_write(struct mover *mover);
/* Reads counters and last moves of an earlier mover; and its states, if the same keepalived still runs. */
void state_inherit(struct mover *mover);
