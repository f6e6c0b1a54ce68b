/* What this node tells others of its flows: changes as they come, and whole tables a few datagrams at a time. */
#pragma once
#include "flows.h"
#include "record.h"

/* Goes to every peer, within a few milliseconds. */
void send_change(struct flows *flows, enum record_kind kind, const struct flow_record *record);
void send_flush(struct flows *flows);
/* Has every peer tell all flows of a domain. */
void send_request(struct flows *flows, const struct domain *domain);
/* Tells a peer all flows, or those of one domain. While it is being told, it is told all once more afterwards. */
void send_all(struct flows *flows, struct peer *peer);
void send_domain(struct flows *flows, struct peer *peer, const struct domain *domain);
/* Goes on with whole tables. */
void send_continue(struct flows *flows);
/* A domain goes: who is being told of it is told all anew. */
void send_restart(struct flows *flows, const struct domain *gone);
