#include "loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_PER_ROUND 256

uint64_t loop_now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void loop_open(struct loop *loop)
{
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0) {
		perror("epoll_create1");
		abort();
	}
}

bool loop_watch(struct loop *loop, struct watch *watch, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return false;
	watch->fd = fd;
	return true;
}

void loop_rewatch(struct loop *loop, struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void loop_close(struct watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

/* A binary heap, earliest first. Places count from 1, so that children of n are 2n and 2n+1. */

static void place(struct loop *loop, struct timer *timer, size_t at)
{
	loop->heap[at - 1] = timer;
	timer->place = at;
}

static void sift(struct loop *loop, struct timer *timer, size_t at)
{
	while (at > 1 && loop->heap[at / 2 - 1]->at_us > timer->at_us) {
		place(loop, loop->heap[at / 2 - 1], at);
		at /= 2;
	}
	for (;;) {
		size_t child = at * 2;
		if (child < loop->timers && loop->heap[child]->at_us < loop->heap[child - 1]->at_us)
			child++;
		if (child > loop->timers || loop->heap[child - 1]->at_us >= timer->at_us)
			break;
		place(loop, loop->heap[child - 1], at);
		at = child;
	}
	place(loop, timer, at);
}

static void *grow(void *memory, size_t *cap, size_t item)
{
	*cap = *cap == 0 ? 64 : *cap * 2;
	memory = realloc(memory, *cap * item);
	if (memory == NULL)
		abort();
	return memory;
}

void loop_timer(struct loop *loop, struct timer *timer, uint64_t at_us)
{
	timer->at_us = at_us;
	if (timer->place == 0) {
		if (loop->timers == loop->heap_cap)
			loop->heap = grow(loop->heap, &loop->heap_cap, sizeof(*loop->heap));
		timer->place = ++loop->timers;
		loop->heap[timer->place - 1] = timer;
	}
	sift(loop, timer, timer->place);
}

void loop_untimer(struct loop *loop, struct timer *timer)
{
	size_t at = timer->place;
	struct timer *last;

	if (at == 0)
		return;
	timer->place = 0;
	last = loop->heap[--loop->timers];
	if (last != timer)
		sift(loop, last, at);
}

void loop_give_up(struct loop *loop, int64_t request)
{
	for (size_t at = 0; at < loop->timers; at++) {
		struct timer *timer = loop->heap[at];

		if (timer->request != request)
			continue;
		timer->given_up = true;
		loop_untimer(loop, timer);
		timer->fire(timer);
		return;
	}
}

void loop_free(struct loop *loop, void *memory)
{
	if (loop->garbage_len == loop->garbage_cap)
		loop->garbage = grow(loop->garbage, &loop->garbage_cap, sizeof(*loop->garbage));
	loop->garbage[loop->garbage_len++] = memory;
}

static int pause_ms(const struct loop *loop)
{
	uint64_t now;

	if (loop->timers == 0)
		return -1;
	now = loop_now_us();
	/* Rounded up, since waking early would spin. */
	return loop->heap[0]->at_us <= now ? 0 : (int)((loop->heap[0]->at_us - now + 999) / 1000);
}

static void fire_timers(struct loop *loop)
{
	uint64_t now = loop_now_us();

	while (loop->timers > 0 && loop->heap[0]->at_us <= now) {
		struct timer *timer = loop->heap[0];
		loop_untimer(loop, timer);
		timer->fire(timer);
	}
}

void loop_run(struct loop *loop, void (*idle)(void *arg), void *arg)
{
	struct epoll_event events[EVENTS_PER_ROUND];

	while (!loop->ending) {
		int count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_ROUND, pause_ms(loop));
		if (count < 0 && errno != EINTR)
			abort();
		for (int i = 0; i < count; i++) {
			struct watch *watch = events[i].data.ptr;
			if (watch->fd >= 0)
				watch->ready(watch, events[i].events);
		}
		/* Timers fire last, so that an answer that arrived during a long transaction is in time. */
		if (count < EVENTS_PER_ROUND)
			fire_timers(loop);
		idle(arg);
		while (loop->garbage_len > 0)
			free(loop->garbage[--loop->garbage_len]);
	}
}
