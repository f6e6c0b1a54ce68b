/* The flows of a domain, by their original tuple. */
#pragma once
#include "flows.h"

struct flow *table_find(const struct domain *domain, const struct flow_record *record);
/* A new flow, remote, with this record. The caller knows that there is none. */
struct flow *table_add(struct domain *domain, const struct flow_record *record);
void table_remove(struct domain *domain, struct flow *flow);
void table_set_local(struct domain *domain, struct flow *flow, bool local);
void table_clear(struct domain *domain);
bool tuple_equal(const struct tuple *one, const struct tuple *other);
