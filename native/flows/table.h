/* The flows of a domain, by their original tuple. */
#pragma once
#include "flows.h"

struct flow *table_find(const struct domain *domain, const struct flow_record *record);
/* Adds a remote flow. The caller has checked that the table has none with this tuple. */
struct flow *table_add(struct domain *domain, const struct flow_record *record);
void table_remove(struct domain *domain, struct flow *flow);
void table_set_local(struct domain *domain, struct flow *flow, bool local);
void table_clear(struct domain *domain);
bool tuple_equal(const struct tuple *one, const struct tuple *other);
