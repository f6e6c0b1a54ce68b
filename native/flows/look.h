/* Who carries a flow: told by events of the domain's connection tracking, and now and then by a look at all of it. */
#pragma once
#include "flows.h"

/* Takes what the kernel has to tell. */
void look_at_events(struct flows *flows, struct domain *domain);
/*
 * Compares all entries with the table: heals what was missed, tells peers of the flows that live on, sees which of the
 * flows that a peer told of pass here now, and which are left to this node.
 */
void look_at_all(struct flows *flows, struct domain *domain);
