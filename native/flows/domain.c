#include "domain.h"

#include <string.h>

struct domain *domain_find(struct flows *flows, uint32_t number)
{
	struct domain *domain = flows->domains;

	while (domain != NULL && domain->number != number)
		domain = domain->next;
	return domain;
}

bool domain_shares(const struct domain *domain, uint8_t family, const void *address)
{
	for (size_t i = 0; i < domain->shared_count; i++)
		if (domain->shared[i].family == family && memcmp(domain->shared[i].bytes, address, address_len(family)) == 0)
			return true;
	return false;
}
