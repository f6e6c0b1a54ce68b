#pragma once

struct netns;

/* Drops what a bulk load has gathered for this namespace. */
void transaction_drop(struct netns *netns);
