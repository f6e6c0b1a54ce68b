#include "request_target.h"

#include <errno.h>

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
