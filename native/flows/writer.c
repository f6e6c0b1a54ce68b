#include "writer.h"

#include <pthread.h>
#include <time.h>

#include "../daemon/directory.h"

#define PATIENCE_S 1

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool started, writing;
static struct buf newest;
static const char *newest_directory, *newest_name;

static void *write_all(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	for (;;) {
		struct buf text = newest;
		const char *directory = newest_directory, *name = newest_name;

		if (text.len == 0) {
			pthread_cond_wait(&changed, &mutex);
			continue;
		}
		newest = (struct buf){0};
		writing = true;
		pthread_mutex_unlock(&mutex);
		directory_write(directory, name, &text);
		buf_reset(&text, 0);
		pthread_mutex_lock(&mutex);
		writing = false;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

static bool start(void)
{
	pthread_t thread;
	pthread_attr_t attributes;

	if (started)
		return true;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	started = pthread_create(&thread, &attributes, write_all, NULL) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

void writer_put(const char *directory, const char *name, struct buf *text)
{
	if (!start()) {
		directory_write(directory, name, text);
		buf_reset(text, 0);
		return;
	}
	pthread_mutex_lock(&mutex);
	buf_reset(&newest, 0);
	newest = *text;
	newest_directory = directory;
	newest_name = name;
	*text = (struct buf){0};
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

void writer_finish(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&mutex);
	while ((writing || newest.len > 0) && pthread_cond_timedwait(&changed, &mutex, &until) == 0)
		;
	pthread_mutex_unlock(&mutex);
}
