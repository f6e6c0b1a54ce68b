/*
 * spout-helper: does for the agent what Node.js cannot. It reads one request per line on stdin, writes one reply per line on
 * stdout, and logs to stderr. docs/design/0002-native-helper.md describes the protocol. It ends when stdin ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "neighbours/defend.h"
#include "dispatch.h"
#include "loop/helper.h"
#include "netfilter/nft_batch.h"
#include "probes/ping.h"
#include "requests/reply.h"

#define MAX_LINE (4u << 20)
#define READ_SIZE (256u << 10)
/* While the parent has this much left to read, no more requests are taken. */
#define MAX_UNREAD (16u << 20)
#define MAX_VALUES 200000

struct stdio {
	struct helper helper;
	struct watch in;
	struct watch out;
	struct buf line;
	size_t searched; /* bytes of `line` known to hold no newline */
	bool skipping;	 /* within a line that is too long */
	bool taking;	 /* whether stdin is watched for input */
	bool blocked;	 /* whether stdout is watched for room */
};

static void refuse_line(struct stdio *stdio)
{
	struct failure failure = {.text = "the line is too long", .index = -1, .element = -1};

	reply_failure(&stdio->helper.out, NO_REQUEST_ID, &failure);
	reply_end(&stdio->helper.out);
}

static void take_lines(struct stdio *stdio)
{
	struct buf *line = &stdio->line;
	size_t start = 0;
	uint8_t *newline;

	while ((newline = memchr(line->data + stdio->searched, '\n', line->len - stdio->searched)) != NULL) {
		size_t end = (size_t)(newline - line->data);
		*newline = '\0';
		if (!stdio->skipping && end > start)
			request_handle(&stdio->helper, (char *)line->data + start, end - start);
		stdio->skipping = false;
		start = stdio->searched = end + 1;
	}
	buf_consume(line, start);
	if (line->len > MAX_LINE && !stdio->skipping) {
		stdio->skipping = true;
		refuse_line(stdio);
	}
	if (stdio->skipping)
		line->len = 0;
	stdio->searched = line->len;
}

static void in_ready(struct watch *watch, uint32_t events)
{
	struct stdio *stdio = container_of(watch, struct stdio, in);
	ssize_t len = read(watch->fd, buf_reserve(&stdio->line, READ_SIZE), READ_SIZE);

	(void)events;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		stdio->helper.loop.ending = true;
		return;
	}
	stdio->line.len += (size_t)len;
	take_lines(stdio);
}

static void write_out(struct stdio *stdio)
{
	struct buf *out = &stdio->helper.out;
	size_t done = 0;

	while (done < out->len) {
		ssize_t len = write(STDOUT_FILENO, out->data + done, out->len - done);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno != EAGAIN)
			stdio->helper.loop.ending = true;
		if (len < 0)
			break;
		done += (size_t)len;
	}
	buf_consume(out, done);
}

static void out_ready(struct watch *watch, uint32_t events)
{
	struct stdio *stdio = container_of(watch, struct stdio, out);

	/* The parent closed its end. */
	if (events & (EPOLLERR | EPOLLHUP))
		stdio->helper.loop.ending = true;
	write_out(stdio);
}

/* After each round: writes the replies, and watches stdin and stdout as their buffers require. */
static void after_round(void *arg)
{
	struct stdio *stdio = arg;
	struct loop *loop = &stdio->helper.loop;
	bool take, blocked;

	write_out(stdio);
	take = stdio->helper.out.len < MAX_UNREAD;
	blocked = stdio->helper.out.len > 0;
	if (take != stdio->taking)
		loop_rewatch(loop, &stdio->in, take ? EPOLLIN : 0);
	if (blocked != stdio->blocked)
		loop_rewatch(loop, &stdio->out, blocked ? EPOLLOUT : 0);
	stdio->taking = take;
	stdio->blocked = blocked;
}

/* Each probe in flight is a descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void watch_stdio(struct stdio *stdio)
{
	stdio->in.ready = in_ready;
	stdio->out.ready = out_ready;
	stdio->taking = true;
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	if (!loop_watch(&stdio->helper.loop, &stdio->in, STDIN_FILENO, EPOLLIN) ||
	    !loop_watch(&stdio->helper.loop, &stdio->out, STDOUT_FILENO, 0)) {
		perror("stdin and stdout must be pipes");
		exit(1);
	}
}

int main(void)
{
	static struct stdio stdio;

	/* Only the parent ends the helper, even if a terminal interrupts the whole process group. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	raise_descriptor_limit();
	stdio.helper.json = json_arena_new(MAX_VALUES);
	loop_open(&stdio.helper.loop);
	netns_open(&stdio.helper);
	netns_on_drop(&stdio.helper.namespaces, defenders_drop);
	netns_on_drop(&stdio.helper.namespaces, transaction_drop);
	ping_open(&stdio.helper);
	watch_stdio(&stdio);
	loop_run(&stdio.helper.loop, after_round, &stdio);
	return 0;
}
