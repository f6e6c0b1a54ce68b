#pragma once

struct netns;

/* Ends all defenders of this namespace, since their sockets would keep it alive. */
void defenders_drop(struct netns *netns);
