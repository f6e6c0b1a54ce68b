/* What a domain's flows are, and which this node carries: told by events of its connection tracking, and by looks at all of it. */
#pragma once
#include "flows.h"

/* Takes what the kernel has to tell. */
void scan_events(struct flows *flows, struct domain *domain);
/*
 * Compares all entries with the table: heals what was missed, hands over flows whose address came or went, and tells
 * peers of those that this node carries.
 */
void scan_table(struct flows *flows, struct domain *domain);
