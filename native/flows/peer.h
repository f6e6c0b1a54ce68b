/*
 * What nodes tell each other, in UDP datagrams:
 *
 *   "SFR1", kind 1, flags 1 (1: tell me everything), count 2, epoch of the sender 8, epoch of the receiver as far as
 *   the sender knows it 8, sequence 8, then of a hello: challenge 8, echo 8; of flows: `count` records; MAC 16
 *
 * The MAC is HMAC-SHA256 over all before it, cut to 16 bytes. An epoch is a random number that a process takes for each
 * peer. A new one is believed when its hello echoes the challenge that we sent last, so a recorded hello is worth
 * nothing; a datagram of flows counts only when both epochs are right and its sequence is higher than the last, so
 * neither is any other. Whoever shows a new epoch is told the whole table. A peer that is forgotten and named again is
 * met under another epoch: its sequences begin anew.
 */
#pragma once
#include "flows.h"
#include "record.h"

/* Binds the socket if need be. Says in `listen_error` why it cannot. */
void peers_listen(struct flows *flows);
struct peer *peer_find(struct flows *flows, const struct address *address);
struct peer *peer_add(struct flows *flows, const struct address *address);
/* Goes to every peer, within a few milliseconds. */
void peers_tell(struct flows *flows, enum record_kind kind, const struct flow_record *record);
void peers_flush(struct flows *flows);
void peers_receive(struct flows *flows);
/* Shows that we live. Once a second. */
void peers_greet(struct flows *flows);
/* Has every peer tell all flows of a domain. */
void peers_ask(struct flows *flows, const struct domain *domain);
/* Goes on telling whole tables. */
void peers_go_on(struct flows *flows);
/* A domain goes: who is being told of it is told all anew. */
void peers_tell_anew(struct flows *flows, const struct domain *gone);
/* A random number that is not 0. */
uint64_t random_number(void);
