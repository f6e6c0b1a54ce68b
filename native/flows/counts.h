/*
 * Detects lost flows by counts. Once a second each node advertises how many flows of a domain it carries. A node that
 * holds fewer of them requests the whole domain again. A node that takes the address over compares what it holds with the
 * last count, and so knows how many flows it missed.
 */
#pragma once
#include "flows.h"

/* Runs once a second: advertises, requests what is missing, and evaluates a takeover that is due. */
void counts_tick(struct flows *flows, struct domain *domain);
/* A peer's count. Always true: an unknown domain is no fault of the peer. */
bool counts_receive(struct flows *flows, struct peer *peer, const struct flow_record *record);
/* A flow of the peer ended: one less is expected until its next count. */
void counts_flow_ended(struct domain *domain);
/* A shared address was bound on this node. */
void counts_address_gained(struct domain *domain);
/* Forgets the last count. The totals of missed flows stay. */
void counts_reset(struct domain *domain);
/* Forgets this peer's counts in all domains. */
void counts_forget_peer(struct flows *flows, const struct peer *peer);
