#include "queue.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../daemon/memory.h"
#include "verify.h"

/* Limit of jobs that wait for one list. With the slowest accepted hashes they take some 4 s. */
#define MOST_WAITING 16

/* The waiting jobs of one list, first come, first served. */
struct queue {
	char list[ID_LEN + 1];
	struct job *first, **last;
	unsigned count;
	struct queue *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
/* The queues that are not empty. The first one has the next turn. */
static struct queue *queues;
static struct job *running, *finished;
static int done_fd = -1;

static struct queue **end_of_queues(void)
{
	struct queue **at = &queues;

	while (*at != NULL)
		at = &(*at)->next;
	return at;
}

static struct job *take(void)
{
	struct queue *queue = queues;
	struct job *job = queue->first;

	queues = queue->next;
	queue->next = NULL;
	queue->first = job->next;
	job->next = NULL;
	if (--queue->count == 0)
		free(queue);
	else
		*end_of_queues() = queue;
	return job;
}

static void *work(void *unused)
{
	uint64_t one = 1;

	(void)unused;
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (queues == NULL)
			pthread_cond_wait(&filled, &mutex);
		running = take();
		pthread_mutex_unlock(&mutex);
		running->is_right = verify_password(running->password, running->hash) && running->known;
		pthread_mutex_lock(&mutex);
		running->next = finished;
		finished = running;
		running = NULL;
		if (write(done_fd, &one, sizeof one) < 0)
			abort();
	}
	return NULL;
}

int queue_open(void)
{
	pthread_t thread;

	done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (done_fd >= 0 && pthread_create(&thread, NULL, work, NULL) != 0)
		return -1;
	return done_fd;
}

static bool is_of(const struct job *job, const char *list, const struct digest *digest)
{
	return strcmp(job->list, list) == 0 && CRYPTO_memcmp(job->digest.bytes, digest->bytes, DIGEST_BYTES) == 0;
}

static struct queue *queue_of(const char *list)
{
	for (struct queue *queue = queues; queue != NULL; queue = queue->next)
		if (strcmp(queue->list, list) == 0)
			return queue;
	return NULL;
}

struct job *queue_find(const char *list, const struct digest *digest)
{
	struct job *found = NULL;
	const struct queue *queue;

	pthread_mutex_lock(&mutex);
	if (running != NULL && is_of(running, list, digest))
		found = running;
	for (struct job *job = finished; found == NULL && job != NULL; job = job->next)
		if (is_of(job, list, digest))
			found = job;
	queue = queue_of(list);
	for (struct job *job = queue != NULL ? queue->first : NULL; found == NULL && job != NULL; job = job->next)
		if (is_of(job, list, digest))
			found = job;
	pthread_mutex_unlock(&mutex);
	return found;
}

struct job *queue_add(const char *list, const struct digest *digest, const char *password, const char *hash, bool known)
{
	struct queue *queue;
	struct job *job = NULL;

	pthread_mutex_lock(&mutex);
	queue = queue_of(list);
	if (queue == NULL) {
		queue = memory_new(sizeof *queue);
		memcpy(queue->list, list, ID_LEN);
		queue->last = &queue->first;
		*end_of_queues() = queue;
	}
	if (queue->count < MOST_WAITING) {
		job = memory_new(sizeof *job);
		job->digest = *digest;
		memcpy(job->list, list, ID_LEN);
		job->password = memory_text(password);
		job->hash = memory_text(hash);
		job->known = known;
		if (queue->first == NULL)
			queue->last = &queue->first;
		*queue->last = job;
		queue->last = &job->next;
		queue->count++;
		pthread_cond_signal(&filled);
	}
	pthread_mutex_unlock(&mutex);
	return job;
}

struct job *queue_done(void)
{
	uint64_t count;
	struct job *job;

	pthread_mutex_lock(&mutex);
	job = finished;
	if (job != NULL)
		finished = job->next;
	else if (read(done_fd, &count, sizeof count) < 0)
		count = 0;
	pthread_mutex_unlock(&mutex);
	return job;
}

void job_free(struct job *job)
{
	OPENSSL_cleanse(job->password, strlen(job->password));
	OPENSSL_cleanse(job->hash, strlen(job->hash));
	free(job->password);
	free(job->hash);
	free(job);
}
