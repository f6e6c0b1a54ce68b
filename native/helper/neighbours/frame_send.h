#pragma once
#include "../../net/ethernet.h"
#include "../loop/netns.h"

/* Sends through the namespace's packet socket; 0 or errno. */
int frame_send(struct netns *netns, int ifindex, const struct frame *frame);
