#pragma once

struct netns;

/* Ends every defence in this namespace: its sockets would keep the namespace alive. */
void defenders_drop(struct netns *netns);
