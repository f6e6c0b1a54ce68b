/* The keepalived process that started the mover: the one that sends and hears adverts. */
#pragma once
#include "mover.h"

/* The parent of this process. Without a pidfd when that is init: then nobody started us who could be made give way. */
void keepalived_parent(struct keepalived *out);
/* The process behind a pidfd that was handed on. False when it is gone. */
bool keepalived_inherit(struct keepalived *out, int fd);
bool keepalived_alive(const struct keepalived *keepalived);
/*
 * Ends it at once, without a last advert: its parent starts it again, as backup. A node that slept must not send one
 * more advert, since with a higher priority it would push the node aside that took over.
 */
void keepalived_give_way(const struct keepalived *keepalived);
