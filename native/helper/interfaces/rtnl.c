#include "rtnl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../requests/request_target.h"

/* Messages in one send. Each may be answered by an error, and all errors must fit into the receive queue. */
#define MESSAGES_PER_SEND 256
#define MESSAGE_SPACE 512
#define REFUSALS_TOLD 100

struct run {
	struct sent {
		uint16_t type;
		uint32_t index; /* of the change */
	} sent[MESSAGES_PER_SEND]; /* by sequence number */
	uint32_t count;
	struct refused {
		uint32_t index;
		int err;
	} refused[REFUSALS_TOLD];
	uint32_t refusals;
};

/* Adding what is there and deleting what is not are no errors. */
static bool is_so_already(uint16_t type, int err)
{
	bool deleting = type == RTM_DELADDR || type == RTM_DELROUTE;
	return deleting ? err == EADDRNOTAVAIL || err == ESRCH || err == ENOENT || err == ENODEV : err == EEXIST;
}

static void note(struct run *run, struct sent sent, int err)
{
	if (is_so_already(sent.type, err))
		return;
	if (run->refusals < REFUSALS_TOLD)
		run->refused[run->refusals] = (struct refused){.index = sent.index, .err = err};
	run->refusals++;
}

static void note_refusal(const struct nlmsghdr *message, void *arg)
{
	struct run *run = arg;
	struct netlink_refusal refusal;

	if (netlink_refused(message, &refusal) && refusal.seq < run->count)
		note(run, run->sent[refusal.seq], refusal.err);
}

static bool send_some(struct request *request, int fd, struct buf *messages, struct run *run)
{
	int err;

	request->helper->netlink_messages += run->count;
	err = netlink_ask(fd, messages->data, messages->len, note_refusal, run);
	run->count = 0;
	messages->len = 0;
	return err == 0 || fail_errno(request, err, "rtnetlink");
}

static bool send_all(struct request *request, struct netns *netns, rtnl_change *write, struct buf *messages, struct run *run)
{
	const struct json *change;
	int fd = netns_route(netns);

	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	if (!field_list(request, request->fields, "changes", &change))
		return false;
	for (uint32_t index = 0; change != NULL; change = change->next, index++) {
		struct nlmsghdr *message = mnl_nlmsg_put_header(buf_reserve(messages, MESSAGE_SPACE));
		bool written = write(request, netns, change, message);
		struct sent sent = {.type = message->nlmsg_type, .index = index};

		if (written) {
			message->nlmsg_seq = run->count;
			messages->len += NLMSG_ALIGN(message->nlmsg_len);
			run->sent[run->count++] = sent;
		} else if (request->failure.err == ENODEV) {
			note(run, sent, ENODEV);
		} else {
			request->failure.index = index;
			return false;
		}
		if (run->count == MESSAGES_PER_SEND && !send_some(request, fd, messages, run))
			return false;
	}
	return run->count == 0 || send_some(request, fd, messages, run);
}

/* Writes the reply here, since a list of refusals does not fit into a failure. */
static bool reply_refusals(struct request *request, const struct run *run)
{
	struct buf *out = &request->helper->out;
	uint32_t told = run->refusals < REFUSALS_TOLD ? run->refusals : REFUSALS_TOLD;

	fail_errno(request, run->refused[0].err, "%u of the changes refused, first", run->refusals);
	request->failure.index = run->refused[0].index;
	reply_failure(out, request->id, &request->failure);
	reply_list(out, "refused");
	for (uint32_t i = 0; i < told; i++) {
		reply_item(out);
		reply_number(out, "index", run->refused[i].index);
		reply_text(out, "errno", errno_name(run->refused[i].err));
		reply_item_end(out);
	}
	reply_list_end(out);
	reply_end(out);
	return true;
}

bool rtnl_apply(struct request *request, rtnl_change *write)
{
	struct buf messages = {0};
	struct run run = {0};
	struct netns *netns;
	bool sent;

	if (!request_netns(request, &netns))
		return false;
	sent = send_all(request, netns, write, &messages, &run);
	buf_reset(&messages, 0);
	if (!sent)
		return false;
	return run.refusals > 0 ? reply_refusals(request, &run) : reply_done(request);
}

struct dump {
	void (*item)(const struct nlmsghdr *message, void *arg);
	void *arg;
	struct netlink_refusal refusal;
};

static void dump_message(const struct nlmsghdr *message, void *arg)
{
	struct dump *dump = arg;

	if (!netlink_refused(message, &dump->refusal) && message->nlmsg_type >= NLMSG_MIN_TYPE)
		dump->item(message, dump->arg);
}

bool rtnl_dump(struct request *request, struct netns *netns, struct nlmsghdr *message,
	       void (*item)(const struct nlmsghdr *message, void *arg), void *arg)
{
	struct dump dump = {.item = item, .arg = arg};
	int fd = netns_route(netns), err;

	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	request->helper->netlink_messages++;
	err = netlink_ask(fd, message, message->nlmsg_len, dump_message, &dump);
	if (err == 0)
		err = dump.refusal.err;
	/* A table that does not exist has no routes. */
	return err == 0 || err == ENOENT || fail_errno(request, err, "rtnetlink dump");
}

bool rtnl_verb(struct request *request, const struct json *change, const char *adding, bool *out)
{
	const char *verb;

	if (!field_text(request, change, "do", &verb))
		return false;
	*out = strcmp(verb, adding) == 0;
	return *out || strcmp(verb, "delete") == 0 || fail(request, "do is not %s or delete", adding);
}
