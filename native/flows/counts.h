/*
 * What another node says that it carries of a domain. Each node tells once a second how many flows it carries, so that
 * one which has fewer of them ready finds out, whatever was lost on the way, and asks; and so that one to which the
 * address comes can say how many flows should have come with it.
 */
#pragma once
#include "flows.h"

/* What is due with time: to tell how many flows are carried here, to ask for those that are missing here, to judge. */
void counts_tick(struct flows *flows, struct domain *domain);
/* A peer's word. Always true: it can do no harm. */
bool counts_receive(struct flows *flows, struct peer *peer, const struct flow_record *record);
/* A flow of the peer ended: until its next word, it carries one less. */
void counts_flow_ended(struct domain *domain);
/* A shared address came here. */
void counts_address_gained(struct domain *domain);
/* Nobody's word counts any more. What was missed stays counted. */
void counts_reset(struct domain *domain);
/* The same, in all domains, for one peer's. */
void counts_forget_peer(struct flows *flows, const struct peer *peer);
