/* Connections of the proxy, which asks one question on each, and of the agent, which sends lists of users. */
#pragma once
#include <stdbool.h>

#include "../daemon/memory.h"
#include "queue.h"

struct connection {
	int fd;
	bool is_agent;
	struct buf in, out;
	/* The comparison that it waits for, and the next connection that waits for the same one. */
	struct job *job;
	struct connection *next_waiter;
	/* The list of all connections. */
	struct connection *next;
};

/* Answers the connections that wait for a job, and frees the job. */
void connection_job_done(struct job *job);
/* Reads what arrived. False if the connection must be closed. */
bool connection_read(struct connection *connection);
/* Writes the pending output. False if the connection must be closed. */
bool connection_write(struct connection *connection);
/* Closes and frees it. Its job continues: other connections may wait for it, and its result is cached. */
void connection_close(struct connection *connection);
