#include "dispatch.h"

#include <string.h>
#include <unistd.h>

#include "requests/operations.h"

#define PROTOCOL_VERSION 1

static bool op_hello(struct request *request)
{
	struct buf *out = &request->helper->out;

	reply_begin(out, request->id);
	reply_number(out, "version", PROTOCOL_VERSION);
	reply_number(out, "pid", getpid());
	reply_end(out);
	return true;
}

static bool op_stats(struct request *request)
{
	struct helper *helper = request->helper;

	reply_begin(&helper->out, request->id);
	reply_number(&helper->out, "requests", (int64_t)helper->requests);
	reply_number(&helper->out, "netlinkMessages", (int64_t)helper->netlink_messages);
	reply_number(&helper->out, "transactions", (int64_t)helper->transactions);
	reply_number(&helper->out, "probesInFlight", (int64_t)helper->probes);
	reply_end(&helper->out);
	return true;
}

/* give-up: the agent no longer waits for a probe. It is answered now, as if it had timed out. */
static bool op_give_up(struct request *request)
{
	int64_t target = 0;

	if (!field_number(request, request->fields, "request", 1, INT64_MAX, &target))
		return false;
	loop_give_up(&request->helper->loop, target);
	return reply_done(request);
}

static const struct {
	const char *name;
	operation *run;
} OPERATIONS[] = {
	{"nft-batch", op_nft_batch},
	{"connect", op_connect},
	{"ping", op_ping},
	{"udp", op_udp},
	{"sctp", op_sctp},
	{"nft-get", op_nft_get},
	{"nft-counters", op_nft_counters},
	{"nft-generation", op_nft_generation},
	{"nft-text", op_nft_text},
	{"addr", op_addr},
	{"addr-list", op_addr_list},
	{"link", op_link},
	{"route", op_route},
	{"route-list", op_route_list},
	{"rtnl-mark", op_rtnl_mark},
	{"traffic", op_traffic},
	{"announce", op_announce},
	{"arp-probe", op_arp_probe},
	{"defend", op_defend},
	{"conntrack-delete", op_conntrack_delete},
	{"conntrack-count", op_conntrack_count},
	{"time-slice", op_time_slice},
	{"clock-state", op_clock_state},
	{"give-up", op_give_up},
	{"hello", op_hello},
	{"stats", op_stats},
};

static bool dispatch(struct request *request)
{
	const char *name;

	if (!field_text(request, request->fields, "op", &name))
		return false;
	for (size_t i = 0; i < sizeof(OPERATIONS) / sizeof(*OPERATIONS); i++)
		if (strcmp(OPERATIONS[i].name, name) == 0)
			return OPERATIONS[i].run(request);
	return fail(request, "op %.64s is not known", name);
}

static bool parse(struct request *request, char *line, size_t len)
{
	const char *error;
	int64_t id = NO_REQUEST_ID;

	request->fields = json_parse(&request->helper->json, line, len, &error);
	if (request->fields == NULL)
		return fail(request, "not JSON: %s", error);
	if (request->fields->type != JSON_OBJECT)
		return fail(request, "not an object");
	if (!field_number(request, request->fields, "id", 0, INT64_MAX, &id))
		return false;
	request->id = id;
	return true;
}

void request_handle(struct helper *helper, char *line, size_t len)
{
	struct request request = {.helper = helper, .id = NO_REQUEST_ID, .failure = {.index = -1, .element = -1}};

	helper->requests++;
	if (parse(&request, line, len) && dispatch(&request))
		return;
	reply_failure(&helper->out, request.id, &request.failure);
	reply_end(&helper->out);
}
