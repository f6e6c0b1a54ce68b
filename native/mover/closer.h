/*
 * Closes descriptors in a thread of its own: closing a packet socket waits for an RCU grace period, tens of milliseconds,
 * and a move must not wait for it.
 */
#pragma once
#include <stdbool.h>

bool closer_start(void);
void close_aside(int fd);
