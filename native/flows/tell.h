/* What this node tells others of its flows: changes as they come, and whole tables a few datagrams at a time. */
#pragma once
#include "flows.h"
#include "record.h"

/* Goes to every peer, within a few milliseconds. */
void tell_change(struct flows *flows, enum record_kind kind, const struct flow_record *record);
void tell_flush(struct flows *flows);
/* Has every peer tell all flows of a domain. */
void tell_ask(struct flows *flows, const struct domain *domain);
/* Tells a peer all flows, or those of one domain. While it is being told, it is told all once more afterwards. */
void tell_all(struct flows *flows, struct peer *peer);
void tell_domain(struct flows *flows, struct peer *peer, const struct domain *domain);
/* Goes on with whole tables. */
void tell_go_on(struct flows *flows);
/* A domain goes: who is being told of it is told all anew. */
void tell_anew(struct flows *flows, const struct domain *gone);
