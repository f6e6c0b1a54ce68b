/* DIR/state.json: reports to the agent what is replicated. */
#pragma once
#include "flows.h"

/* Hands the text to the writer, which replaces the file. */
void state_write(struct flows *flows);
