/*
 * DIR/config, which the agent replaces as a whole:
 *
 *   listen <address> <port>
 *   peer <address> <port>
 *   key <64 hex digits>
 *   timeouts <TCP s> <UDP s>        optional; how long an entry stays that nobody renews: 300 120
 *   refresh <s>                     optional; how often all is looked at and told again: 60
 *   domain <number> <path of a namespace> <shared address>...
 */
#pragma once
#include "flows.h"

/* Reads it and acts on the difference. With a fault in it all stays as it is, and `config_error` names the line. */
void config_load(struct flows *flows);
/* Reads it when it is another file than the one that was read last. */
void config_check(struct flows *flows);
