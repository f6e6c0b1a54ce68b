/* Connections: of the proxy, which asks one question on each, and of the agent, which gives lists of users. */
#pragma once
#include <stdbool.h>

#include "../daemon/memory.h"
#include "queue.h"

struct connection {
	int fd;
	bool is_agent;
	struct buf in, out;
	/* The question that it waits for, and the next who waits for the same. */
	struct job *job;
	struct connection *next_waiter;
	/* All connections. */
	struct connection *next;
};

/* Answers what waits for a job, and frees the job. */
void connection_job_done(struct job *job);
/* Reads what came. False when the connection is to be closed. */
bool connection_read(struct connection *connection);
/* Writes what there is to write. False when the connection is to be closed. */
bool connection_write(struct connection *connection);
/* Closes and frees it. Its job goes on: others may wait for it, and its result is remembered. */
void connection_close(struct connection *connection);
