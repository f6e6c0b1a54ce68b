/* Relays bytes between the agent, which speaks TLS, and the receiver. */
#pragma once
#include <stdint.h>

#include "../net/address.h"

/*
 * Connects, and passes bytes from stdin to the connection and from the connection to stdout, until one of them ends. Returns
 * the exit code: 0 if the connection ended, 1 with the reason on stderr if it could not be established or broke.
 */
int relay_run(const struct address *address, uint16_t port);
