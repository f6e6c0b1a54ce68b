#include "nft_commands.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <nftables/libnftables.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the messages of a batch go while commands are compiled; NULL: to the kernel. */
static struct buf *compiled;

static void take_messages(const struct iovec *page)
{
	const struct nlmsghdr *message = page->iov_base;
	int left = (int)page->iov_len;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		if (message->nlmsg_type >> 8 == NFNL_SUBSYS_NFTABLES)
			buf_put(compiled, message, message->nlmsg_len);
}

/*
 * libnftables cannot be asked for the messages of a batch: one call compiles and sends them. It sends a batch by sendmsg,
 * which nothing else here does (what it asks the kernel goes by sendto), and this definition comes before libc's.
 * Then it looks for answers, without waiting, finds none, and takes that for success.
 */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t len = 0;

	if (compiled == NULL)
		return syscall(SYS_sendmsg, fd, msg, flags);
	for (size_t i = 0; i < msg->msg_iovlen; i++) {
		take_messages(&msg->msg_iov[i]);
		len += (ssize_t)msg->msg_iov[i].iov_len;
	}
	return len;
}

bool nft_commands_run(struct request *request, struct netns *netns, const char *text)
{
	struct nft_ctx *nft;
	bool done;

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
	return done;
}

bool nft_commands_compile(struct request *request, struct netns *netns, const char *text, struct buf *messages)
{
	size_t before = messages->len;
	bool done;

	compiled = messages;
	done = nft_commands_run(request, netns, text);
	compiled = NULL;
	if (done && messages->len == before)
		return fail(request, "libnftables made no messages of the commands");
	return done;
}
