/* The syslog receiver, and the connection to it. */
#pragma once
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../net/address.h"

struct receiver {
	struct address address;
	uint16_t port;
	bool stream;
	int fd; /* -1: none is open */
	bool connected;
	uint64_t again_us;    /* the earliest time to open it again */
	uint64_t deadline_us; /* until which it must be connected */
	uint64_t pause_us;    /* how long to wait before it is opened again */
	size_t begun;         /* how many bytes of the first frame the connection has accepted */
	uint64_t sent, lost;
};

/*
 * Sends frames as far as the receiver accepts them. `data` begins with a complete frame. Returns how many of its bytes are
 * done; the rest is moved to the start.
 */
size_t receiver_send(struct receiver *receiver, char *data, size_t have);
/* Checks whether the other side has ended the connection. */
void receiver_look(struct receiver *receiver);
/* What to poll for. Returns for how many milliseconds; -1: without a limit. */
int receiver_poll(const struct receiver *receiver, bool has_message, struct pollfd *out);
