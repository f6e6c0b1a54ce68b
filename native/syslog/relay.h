/* A connection whose bytes somebody else makes: of TLS, which the agent speaks. */
#pragma once
#include <stdint.h>

#include "../net/address.h"

/*
 * Connects, and passes what comes on stdin to the other side and what comes from there to stdout, until one of them ends.
 * Returns the exit code: 0 once a connection ended, 1 for one that never was or broke, with the reason on stderr.
 */
int relay_run(const struct address *address, uint16_t port);
