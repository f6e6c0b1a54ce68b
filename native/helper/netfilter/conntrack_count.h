/* The size of a namespace's connection table. */
#pragma once
#include <stdint.h>

/* The number of flows in the namespace of this netfilter socket. UINT32_MAX if the kernel does not tell. */
uint32_t conntrack_flows(int fd);
