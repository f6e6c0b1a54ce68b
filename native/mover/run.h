/* The loop: what keepalived says, the table, adverts of others, and time. */
#pragma once
#include "mover.h"

/* Another process may have been started in this one's place; it finds what we leave. */
#define EXIT_FROZEN 75

struct sources {
	int fifo;
	int signals;
	int directory;	/* inotify */
	int adverts[2]; /* -1: none */
	int links;
	bool resumed;	/* started again by the guard: keepalived does not know this process */
};

/* Runs until the end; the program's exit code. `hand_over`: whether addresses are left to the next mover. */
int run(struct mover *mover, struct sources *sources, bool *hand_over);
/* Reads what is in the FIFO without waiting; true when a state changed. */
bool read_notifications(struct mover *mover, const struct sources *sources);
