/* The keepalived process that started the mover and sends the adverts. */
#pragma once
#include "mover.h"

/* The parent of this process. No pidfd if the parent is init, since then there is no keepalived to kill. */
void keepalived_parent(struct keepalived *out);
/* The process behind an inherited pidfd. False when it has ended. */
bool keepalived_inherit(struct keepalived *out, int fd);
bool keepalived_alive(const struct keepalived *keepalived);
/*
 * Kills it, so that it sends no last advert. Its parent restarts it as backup. A node that slept must not send another
 * advert: with a higher priority it would preempt the node that took over.
 */
void keepalived_give_way(const struct keepalived *keepalived);
