/* The namespace and the interface that a request names. */
#pragma once
#include "../loop/netns.h"
#include "request.h"

/* The namespace of the request's `netns`. */
bool request_netns(struct request *request, struct netns **out);
/* The index of its `dev`, which must exist there. */
bool request_dev(struct request *request, struct netns *netns, const struct json *object, int *ifindex);
