/* DIR/state.json: what is replicated, for the agent. */
#pragma once
#include "flows.h"

/* Written aside and renamed, by the writer. */
void state_write(struct flows *flows);
