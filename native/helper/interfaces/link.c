/* link: the index of an interface. */
#include "../requests/operations.h"
#include "../requests/request_target.h"

bool op_link(struct request *request)
{
	struct buf *out = &request->helper->out;
	struct netns *netns;
	int ifindex;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex))
		return false;
	reply_begin(out, request->id);
	reply_number(out, "link", ifindex);
	reply_end(out);
	return true;
}
