/*
 * Passwords that wait to be compared, in one thread. Each list of users has a bounded queue, and lists take turns: guesses
 * at the users of one do not delay those of others by more than a comparison each.
 */
#pragma once
#include <stdbool.h>

#include "cache.h"
#include "lists.h"

struct connection;

/* One comparison. All who wait with the same credentials share it. */
struct job {
	struct digest digest;
	char list[ID_LEN + 1];
	char *password;
	char *hash;
	bool known;
	bool is_right;
	/* Who waits for it, of the main thread. */
	struct connection *waiters;
	struct job *next;
};

/* The descriptor is readable when jobs are done; -1 with errno. Starts the thread. */
int queue_open(void);
/* The job of these credentials, if they are waited for. */
struct job *queue_find(const char *list, const struct digest *digest);
/* NULL when the list has too many that wait. */
struct job *queue_add(const char *list, const struct digest *digest, const char *password, const char *hash, bool known);
/* A job that is done, to be freed by job_free; NULL when there is none more. */
struct job *queue_done(void);
void job_free(struct job *job);
