/* Reads a domain's connection tracking: by events as they come, and by scans of the whole table. */
#pragma once
#include "flows.h"

/* Reads the events that are queued. */
void scan_events(struct flows *flows, struct domain *domain);
/*
 * Compares all entries with the table: repairs what events missed, changes the owner of flows whose address moved, and
 * sends peers the flows that this node carries.
 */
void scan_table(struct flows *flows, struct domain *domain);
