/*
 * Listens for VRRP adverts (RFC 5798) with a router id of a shard this node masters: two nodes hold the addresses.
 * keepalived elects one of them; the one that keeps them has to say so again, since the other may have spoken last.
 * When another node is master, its last advert tells how long nobody answered before a takeover.
 */
#pragma once
#include "mover.h"

/* Sockets for both families; -1 for one that there is not. */
void adverts_open(int fds[2]);
void adverts_read(struct mover *mover, int fd);
/* Says again what is due; when the next is due, 0 when nothing is. */
uint64_t adverts_reannounce(struct mover *mover);
/* Whether a move away from this node now is the end of a conflict. */
bool adverts_contested(const struct shard *shard);
