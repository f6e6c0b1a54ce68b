/*
 * Closes descriptors aside: to close a packet socket the kernel waits for an RCU grace period, tens of milliseconds,
 * in which no address may wait.
 */
#pragma once
#include <stdbool.h>

bool closer_start(void);
void close_aside(int fd);
