/* Sends flows to peers: changes as they happen, and whole tables a few datagrams at a time. */
#pragma once
#include "flows.h"
#include "record.h"

/* Queues a record for every peer. It is sent within a few milliseconds. */
void send_change(struct flows *flows, enum record_kind kind, const struct flow_record *record);
void send_flush(struct flows *flows);
/* Requests all flows of a domain from every peer. */
void send_request(struct flows *flows, const struct domain *domain);
/* Starts to send a peer all flows, or those of one domain. If a table is being sent already, all flows follow it. */
void send_all(struct flows *flows, struct peer *peer);
void send_domain(struct flows *flows, struct peer *peer, const struct domain *domain);
/* Sends the next datagrams of whole tables. */
void send_continue(struct flows *flows);
/* A domain is removed: peers that are being sent its flows are sent everything from the start. */
void send_restart(struct flows *flows, const struct domain *gone);
