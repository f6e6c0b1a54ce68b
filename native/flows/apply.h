/* What a peer tells becomes an entry of the kernel: only for flows translated to an address that the nodes share. */
#pragma once
#include "flows.h"

/* False when the record is about nothing that this node shares with its peers. */
bool apply_put(struct flows *flows, const struct flow_record *record);
bool apply_delete(struct flows *flows, const struct flow_record *record);
/* How long an entry stays that its node does not renew, in seconds. */
uint32_t apply_timeout(const struct flows *flows, const struct flow_record *record);
