/* nft-text: nft commands, for tables without elements. One buffer is one transaction. */
#include "nft_commands.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

bool op_nft_text(struct request *request)
{
	struct netns *netns;
	const char *text;

	if (!request_netns(request, &netns) || !field_text(request, request->fields, "text", &text) ||
	    !nft_commands_run(request, netns, text))
		return false;
	request->helper->transactions++;
	return reply_done(request);
}
