#include "connection.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "question.h"

/* Limit of a question's bytes: the proxy sends only credentials and a few lines. */
#define MOST_QUESTION 20000
/* Limit of a command's bytes: a list of users and the line before it. */
#define MOST_COMMAND 70000
#define PART 16384

static void answer(struct connection *connection, int code, const char *realm)
{
	answer_write(&connection->out, code, realm);
}

/* The realm stays in `in` until the answer is known. */
static const char *realm_of(struct connection *connection)
{
	return (const char *)connection->in.data;
}

static void keep_realm(struct connection *connection, const char *realm)
{
	OPENSSL_cleanse(connection->in.data, connection->in.len);
	buf_reset(&connection->in, PART);
	buf_put(&connection->in, realm, strlen(realm) + 1);
}

static void wait_for(struct connection *connection, struct job *job, const char *realm)
{
	keep_realm(connection, realm);
	connection->job = job;
	connection->next_waiter = job->waiters;
	job->waiters = connection;
}

static void ask(struct connection *connection, const struct question *question)
{
	const struct list *list = lists_find(question->list);
	struct digest digest;
	struct job *job;
	const char *hash;
	bool known;

	if (list == NULL || !cache_digest(&digest, question->list, question->name, question->password)) {
		answer(connection, 500, "");
		return;
	}
	if (question->name[0] == '\0') {
		answer(connection, 401, question->realm);
		return;
	}
	if (cache_has(&digest)) {
		answer(connection, 200, "");
		return;
	}
	job = queue_find(question->list, &digest);
	if (job == NULL) {
		hash = list_hash(list, question->name, &known);
		job = queue_add(question->list, &digest, question->password, hash, known);
	}
	if (job == NULL)
		answer(connection, 503, "");
	else
		wait_for(connection, job, question->realm);
}

/* False while the header is incomplete. */
static bool read_question(struct connection *connection)
{
	struct buf *in = &connection->in;
	struct question question;
	const uint8_t *end = memmem(in->data, in->len, "\r\n\r\n", 4);

	if (end == NULL)
		return false;
	if (question_read(&question, (char *)in->data, (size_t)(end - in->data) + 4))
		ask(connection, &question);
	else
		answer(connection, 500, "");
	question_forget(&question);
	return true;
}

void connection_job_done(struct job *job)
{
	if (job->is_right)
		cache_add(&job->digest);
	for (struct connection *waiter = job->waiters, *next; waiter != NULL; waiter = next) {
		next = waiter->next_waiter;
		waiter->job = NULL;
		waiter->next_waiter = NULL;
		answer(waiter, job->is_right ? 200 : 401, realm_of(waiter));
	}
	job_free(job);
}

bool connection_read(struct connection *connection)
{
	size_t most = connection->is_agent ? MOST_COMMAND : MOST_QUESTION;
	ssize_t got;

	got = read(connection->fd, buf_reserve(&connection->in, PART), PART);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	/* Each connection has one question. Bytes after it are ignored. */
	if (!connection->is_agent && (connection->job != NULL || connection->out.len > 0))
		return true;
	connection->in.len += (size_t)got;
	if (connection->is_agent) {
		if (!agent_read(&connection->in, &connection->out))
			return false;
	} else if (read_question(connection)) {
		return true;
	}
	return connection->in.len <= most;
}

bool connection_write(struct connection *connection)
{
	ssize_t sent;

	if (connection->out.len == 0)
		return true;
	sent = write(connection->fd, connection->out.data, connection->out.len);
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	buf_consume(&connection->out, (size_t)sent);
	return connection->is_agent || connection->out.len > 0;
}

void connection_close(struct connection *connection)
{
	if (connection->job != NULL)
		for (struct connection **at = &connection->job->waiters; *at != NULL; at = &(*at)->next_waiter)
			if (*at == connection) {
				*at = connection->next_waiter;
				break;
			}
	if (connection->in.data != NULL)
		OPENSSL_cleanse(connection->in.data, connection->in.cap);
	buf_reset(&connection->in, 0);
	buf_reset(&connection->out, 0);
	close(connection->fd);
	free(connection);
}
