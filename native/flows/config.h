/*
 * DIR/config, which the agent replaces as a whole:
 *
 *   listen <address> <port>
 *   peer <address> <port>
 *   key <64 hex digits>
 *   timeouts <TCP s> <UDP s>        optional; timeouts of entries that a peer renews: 300 120
 *   refresh <s>                     optional; how often all flows are scanned and sent again: 60
 *   domain <number> <path of a namespace> <shared address>...
 */
#pragma once
#include "flows.h"

/* Reads the file and applies the difference. An invalid file changes nothing, and `config_error` names the line. */
void config_load(struct flows *flows);
/* Reads the file if it was replaced since. */
void config_check(struct flows *flows);
