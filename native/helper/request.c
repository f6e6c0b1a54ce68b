#include "request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"

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

/* A probe that nobody waits for any more: it is answered now, as if its time were over. */
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

bool fail(struct request *request, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(request->failure.text, sizeof(request->failure.text), format, args);
	va_end(args);
	return false;
}

bool fail_errno(struct request *request, int err, const char *format, ...)
{
	char *text = request->failure.text;
	size_t size = sizeof(request->failure.text), len;
	va_list args;

	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	len = strlen(text);
	snprintf(text + len, size - len, ": %s", strerror(err));
	request->failure.err = err;
	return false;
}

static const struct json *member_of(struct request *request, const struct json *object, const char *name, enum json_type type,
				    const char *article)
{
	const struct json *member = object->type == JSON_OBJECT ? json_member(object, name) : NULL;

	if (member == NULL)
		fail(request, "%s is missing", name);
	else if (member->type != type)
		fail(request, "%s is not %s", name, article);
	else
		return member;
	return NULL;
}

bool field_text(struct request *request, const struct json *object, const char *name, const char **out)
{
	const struct json *member = member_of(request, object, name, JSON_STRING, "text");

	if (member != NULL)
		*out = member->text;
	return member != NULL;
}

bool field_number(struct request *request, const struct json *object, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const struct json *member = member_of(request, object, name, JSON_NUMBER, "a number");

	if (member == NULL)
		return false;
	if (member->number < min || member->number > max)
		return fail(request, "%s is not from %lld to %lld", name, (long long)min, (long long)max);
	*out = member->number;
	return true;
}

bool field_flag(struct request *request, const struct json *object, const char *name, bool *out)
{
	const struct json *member = json_member(object, name);

	if (member != NULL && member->type != JSON_TRUE && member->type != JSON_FALSE)
		return fail(request, "%s is not true or false", name);
	*out = member != NULL && member->type == JSON_TRUE;
	return true;
}

bool field_list(struct request *request, const struct json *object, const char *name, const struct json **first)
{
	const struct json *member = member_of(request, object, name, JSON_ARRAY, "a list");

	if (member != NULL)
		*first = member->child;
	return member != NULL;
}

bool field_bytes(struct request *request, const struct json *object, const char *name, uint8_t **data, size_t *len)
{
	const struct json *member = member_of(request, object, name, JSON_STRING, "text");

	if (member == NULL)
		return false;
	*data = (uint8_t *)member->text;
	return base64_decode(*data, len, member->text, member->len) || fail(request, "%s is not base64", name);
}

bool field_address(struct request *request, const struct json *object, const char *name, struct address *out)
{
	const char *text;

	return field_text(request, object, name, &text) &&
	       (address_parse(out, text) || fail(request, "%s: %.64s is not an address", name, text));
}

bool field_prefix(struct request *request, const struct json *object, const char *name, struct address *out, uint8_t *prefix)
{
	const char *text;

	return field_text(request, object, name, &text) &&
	       (prefix_parse(out, prefix, text) || fail(request, "%s: %.64s is not a prefix", name, text));
}

bool request_netns(struct request *request, struct netns **out)
{
	const struct json *member = json_member(request->fields, "netns");

	if (member != NULL && member->type != JSON_STRING)
		return fail(request, "netns is not text");
	*out = netns_find(request->helper, member == NULL ? NULL : member->text);
	return *out != NULL || fail_errno(request, errno, "netns %.256s", member == NULL ? "(own)" : member->text);
}

bool request_dev(struct request *request, struct netns *netns, const struct json *object, int *ifindex)
{
	const char *dev;

	if (!field_text(request, object, "dev", &dev))
		return false;
	*ifindex = netns_ifindex(netns, dev);
	return *ifindex > 0 || fail_errno(request, errno, "dev %.64s", dev);
}

bool reply_done(struct request *request)
{
	reply_begin(&request->helper->out, request->id);
	reply_end(&request->helper->out);
	return true;
}
