/*
 * Compares passwords in a thread of its own. Each list of users has a bounded queue, and lists take turns: guesses at the users
 * of one list delay those of another by at most one comparison each.
 */
#pragma once
#include <stdbool.h>

#include "cache.h"
#include "lists.h"

struct connection;

/* One comparison. All connections with the same credentials share it. */
struct job {
	struct digest digest;
	char list[ID_LEN + 1];
	char *password;
	char *hash;
	bool known;
	bool is_right;
	/* The connections that wait for it. Only the main thread uses them. */
	struct connection *waiters;
	struct job *next;
};

/* Starts the thread. Returns a descriptor that is readable when jobs are done; -1 with errno. */
int queue_open(void);
/* The waiting job with these credentials; NULL if there is none. */
struct job *queue_find(const char *list, const struct digest *digest);
/* Adds a job. NULL if too many jobs of the list are waiting. */
struct job *queue_add(const char *list, const struct digest *digest, const char *password, const char *hash, bool known);
/* The next job that is done, which the caller frees with job_free. NULL: there is none. */
struct job *queue_done(void);
void job_free(struct job *job);
