/* Entries of the kernel's connection tracking, over ctnetlink. */
#pragma once
#include <libmnl/libmnl.h>

#include "flows.h"

enum entry_kind { ENTRY_NONE, ENTRY_LIVE, ENTRY_DESTROYED };

/* A conntrack entry that the kernel reported. */
struct entry {
	struct flow_record record;
	bool replied;	    /* packets went both ways */
	uint32_t ct_id;	    /* network order */
	uint64_t expires_us; /* of ENTRY_LIVE */
};

/* Reads an event or an item of a dump. ENTRY_NONE unless it is a TCP or UDP flow with source and destination translated. */
enum entry_kind conntrack_read(const struct nlmsghdr *message, struct entry *out);

/* Group memberships of the event socket. */
extern const int CONNTRACK_GROUPS[];
extern const size_t CONNTRACK_GROUP_COUNT;

/* Each sends one request. 0 or errno. */
int conntrack_create(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_update(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_set_timeout(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_delete(struct domain *domain, const struct flow *flow);
/* Requests a dump of all translated entries. The caller reads the answers. */
int conntrack_dump(struct domain *domain);
