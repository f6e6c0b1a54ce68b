/* The event loop: file descriptors and timers on epoll. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in the owner of the descriptor. `fd` is -1 when it is not watched. */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t events);
};

/* Embedded in the object that waits. Zero-initialised is off. */
struct timer {
	uint64_t at_us;
	size_t place; /* in the heap, counted from 1; 0 is off */
	void (*fire)(struct timer *timer);
	int64_t request; /* the request that waits for this timer; 0: none */
	bool given_up;	 /* it was fired by `give-up`: do not retry */
};

struct loop {
	int epoll_fd;
	bool ending;
	struct timer **heap;
	size_t timers;
	size_t heap_cap;
	void **garbage;
	size_t garbage_len;
	size_t garbage_cap;
};

uint64_t loop_now_us(void);
void loop_open(struct loop *loop);
/* Runs until `ending`; calls `idle` after each round of events. */
void loop_run(struct loop *loop, void (*idle)(void *arg), void *arg);

/* False with errno when the descriptor cannot be watched. */
bool loop_watch(struct loop *loop, struct watch *watch, int fd, uint32_t events);
void loop_rewatch(struct loop *loop, struct watch *watch, uint32_t events);
/* Stops watching and closes the descriptor. */
void loop_close(struct watch *watch);

/* Sets or moves the timer. */
void loop_timer(struct loop *loop, struct timer *timer, uint64_t at_us);
void loop_untimer(struct loop *loop, struct timer *timer);
/* Fires the timer of a request. Without one nothing happens, since the request has been answered. */
void loop_give_up(struct loop *loop, int64_t request);

/* Frees memory after this round: events of the round may still point to it. */
void loop_free(struct loop *loop, void *memory);
