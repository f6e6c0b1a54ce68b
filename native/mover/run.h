/* The event loop: keepalived's notifications, the table, adverts of other nodes, and timers. */
#pragma once
#include "mover.h"

/* The exit code after a sleep that was too long (main.c). */
#define EXIT_FROZEN 75

struct sources {
	int fifo;
	int signals;
	int directory;	/* inotify */
	int adverts[2]; /* -1: none */
	int links;
	bool resumed;	/* started again by the guard: keepalived does not know this process */
};

/* Runs until the end. Returns the exit code; `hand_over`: whether addresses stay for the next mover. */
int run(struct mover *mover, struct sources *sources, bool *hand_over);
/* Reads what is in the FIFO without waiting; true when a state changed. */
bool read_notifications(struct mover *mover, const struct sources *sources);
