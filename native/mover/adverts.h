/*
 * Listens for VRRP adverts (RFC 5798) with a router id of a shard this node masters: two nodes hold the addresses.
 * keepalived elects one of them. That node announces its addresses again, since the other may have announced them last.
 * While another node is master, the time of its last advert tells how long nobody answered before a takeover.
 */
#pragma once
#include "mover.h"

/* Opens a socket for each family; -1 where the kernel has none. */
void adverts_open(int fds[2]);
void adverts_read(struct mover *mover, int fd);
/* Announces what is due again. Returns when the next is due; 0: nothing is. */
uint64_t adverts_reannounce(struct mover *mover);
/* Whether a move away from this node now ends a conflict. */
bool adverts_contested(const struct shard *shard);
