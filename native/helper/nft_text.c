/* nft-text: nft commands through libnftables, for skeletons. One buffer is one transaction. */
#include <nftables/libnftables.h>
#include <string.h>

#include "operations.h"
#include "request_target.h"

bool op_nft_text(struct request *request)
{
	struct nft_ctx *nft;
	struct netns *netns;
	const char *text;
	bool done;

	if (!request_netns(request, &netns) || !field_text(request, request->fields, "text", &text))
		return false;
	if (!netns_enter(netns))
		return fail(request, "the namespace is gone");
	/* A new context each time: its socket belongs to the namespace, and its cache must not be stale. */
	nft = nft_ctx_new(NFT_CTX_DEFAULT);
	if (nft == NULL) {
		netns_leave(netns);
		return fail(request, "libnftables cannot start");
	}
	nft_ctx_buffer_output(nft);
	nft_ctx_buffer_error(nft);
	done = nft_run_cmd_from_buffer(nft, text) == 0;
	if (!done)
		fail(request, "%s", nft_ctx_get_error_buffer(nft));
	nft_ctx_free(nft);
	netns_leave(netns);
	if (!done)
		return false;
	request->helper->transactions++;
	return reply_done(request);
}
