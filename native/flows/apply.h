/* Writes what peers send into the kernel's connection tracking, for flows translated to a shared address alone. */
#pragma once
#include "flows.h"

/* False when the record is invalid, or its domain or address is not shared with this node. */
bool apply_put(struct flows *flows, const struct flow_record *record);
bool apply_delete(struct flows *flows, const struct flow_record *record);
/* The timeout of an entry that a peer renews, in seconds. */
uint32_t apply_timeout(const struct flows *flows, const struct flow_record *record);
