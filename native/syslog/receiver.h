/* The receiver of the messages. */
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
	uint64_t again_us;    /* not opened before */
	uint64_t deadline_us; /* of connecting */
	uint64_t pause_us;    /* before it is opened again */
	size_t begun;         /* bytes of the first frame that a connection took */
	uint64_t sent, lost;
};

/*
 * Sends frames as far as the receiver takes them. Returns how many bytes of `data`, which begins with a whole frame, are
 * done with; the rest is moved to its start.
 */
size_t receiver_send(struct receiver *receiver, char *data, size_t have);
/* Looks whether the other side ended the connection. */
void receiver_look(struct receiver *receiver);
/* What to wait for, and how many milliseconds; -1: without end. */
int receiver_poll(const struct receiver *receiver, bool has_message, struct pollfd *out);
