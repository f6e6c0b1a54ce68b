#pragma once

struct netns;

/* Drops the open transaction of this namespace. */
void transaction_drop(struct netns *netns);
