/*
 * The handshake with other nodes, and protection against replay. A process draws a random epoch for each peer. A new
 * epoch is accepted when its hello echoes our last challenge, so a recorded hello is useless. A datagram of flows is
 * accepted when both epochs match and its sequence is higher than the last. A peer with a new epoch is sent the whole
 * table. A peer that is removed and added again gets a new epoch, so its sequences start again.
 */
#pragma once
#include "flows.h"

/* Binds the socket unless it is bound. A failure is written to `listen_error`. */
void peers_listen(struct flows *flows);
struct peer *peer_find(struct flows *flows, const struct address *address);
struct peer *peer_add(struct flows *flows, const struct address *address);
void peers_receive(struct flows *flows);
/* Sends a hello to every peer. Called once a second. */
void peers_send_hello(struct flows *flows);
