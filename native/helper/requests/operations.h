/* The operations. docs/design/0002-native-helper.md describes their fields and replies. */
#pragma once
#include "request.h"

/*
 * An operation. True: it has replied, or will. False: `failure` says why.
 * What outlives the call must not point into the line.
 */
typedef bool operation(struct request *request);

operation op_nft_text, op_nft_batch, op_nft_get, op_nft_counters, op_nft_generation;
operation op_addr, op_addr_list, op_link, op_route, op_route_list, op_rtnl_mark, op_traffic;
operation op_announce, op_arp_probe, op_defend, op_connect, op_ping, op_udp, op_sctp;
operation op_conntrack_delete, op_conntrack_count, op_time_slice, op_clock_state;
