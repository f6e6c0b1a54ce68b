/*
 * Meeting the other nodes. An epoch is a random number that a process takes for each peer. A new one is believed when its
 * hello echoes the challenge that we sent last, so a recorded hello is worth nothing; a datagram of flows counts only when
 * both epochs are right and its sequence is higher than the last, so neither is any other. Whoever shows a new epoch is
 * told the whole table. A peer that is forgotten and named again is met under another epoch: its sequences begin anew.
 */
#pragma once
#include "flows.h"

/* Binds the socket if need be. Says in `listen_error` why it cannot. */
void peers_listen(struct flows *flows);
struct peer *peer_find(struct flows *flows, const struct address *address);
struct peer *peer_add(struct flows *flows, const struct address *address);
void peers_receive(struct flows *flows);
/* Shows that we live. Once a second. */
void peers_send_hello(struct flows *flows);
