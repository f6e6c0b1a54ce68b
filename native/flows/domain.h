/* The domains of the configuration, by number. */
#pragma once
#include "flows.h"

struct domain *domain_find(struct flows *flows, uint32_t number);
bool domain_shares(const struct domain *domain, uint8_t family, const void *address);
