/* Tables, chains, rules and empty sets as nft commands, through libnftables. */
#pragma once
#include <stdbool.h>

#include "../../daemon/memory.h"
#include "../loop/netns.h"
#include "../requests/request.h"

/* Runs the commands in the namespace, as one transaction. False: `failure` says what libnftables says. */
bool nft_commands_run(struct request *request, struct netns *netns, const char *text);
/* Appends the netlink messages that would do it, without the marks of a batch. The kernel sees none of them. */
bool nft_commands_compile(struct request *request, struct netns *netns, const char *text, struct buf *messages);
