/*
 * spout-syslog: sends messages to one syslog receiver from inside a network namespace, where the agent cannot open
 * sockets.
 *
 *   spout-syslog NETNS UID tcp|udp|tls ADDRESS PORT
 *
 * It reads messages with octet counting on stdin: each follows its length (RFC 6587 section 3.4.1). Over TCP it sends them
 * in the same form, over UDP each as a datagram (RFC 5426). While a TCP receiver is unreachable or slow, it stops reading: the
 * agent finds the pipe full and need not wait for the receiver. On stdout it writes lines `<sent> <lost>`: how many messages
 * the kernel has accepted and refused since the start.
 *
 * With `tls` it connects once and passes bytes on in both directions (relay.h): the agent speaks TLS itself and has the keys.
 *
 * It ends when stdin has ended and everything is sent, or a second later (exit code 0). After a wrong call or invalid input it
 * ends with code 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../daemon/arguments.h"
#include "../daemon/clock.h"
#include "../daemon/namespace.h"
#include "frame.h"
#include "receiver.h"
#include "relay.h"

/* Room for the longest message, and for further ones that wait. */
#define ROOM 65536
#define FLUSH_US 1000000

static char waiting[ROOM];
static size_t have;

/* Enters the namespace for good, and drops root's rights. */
static void confine(const char *netns, uid_t uid)
{
	dev_t fs;
	ino_t inode;

	if (!namespace_enter(netns, &fs, &inode))
		fail(netns);
	if (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail("the rights of root cannot be dropped");
}

/* False at the end of the input. */
static bool read_more(void)
{
	ssize_t got = read(STDIN_FILENO, waiting + have, ROOM - have);

	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	have += got > 0 ? (size_t)got : 0;
	return got != 0;
}

/*
 * Writes the counts if they have changed and the pipe has room. Otherwise the next line includes these counts.
 */
static void tell(const struct receiver *receiver)
{
	static uint64_t told;
	char line[48];
	int length;

	if (told == receiver->sent + receiver->lost)
		return;
	length = snprintf(line, sizeof line, "%" PRIu64 " %" PRIu64 "\n", receiver->sent, receiver->lost);
	if (write(STDOUT_FILENO, line, (size_t)length) == length)
		told = receiver->sent + receiver->lost;
}

/* Whether a complete message is waiting. */
static bool has_message(void)
{
	struct frame frame;
	int found = frame_read(&frame, waiting, have);

	errno = EPROTO;
	if (found < 0)
		fail("the input has no length before a message");
	return found > 0;
}

int main(int argc, char **argv)
{
	struct receiver receiver = {.fd = -1};
	uint64_t flush_until = 0;
	bool open = true;

	errno = EINVAL;
	if (argc != 6)
		fail("call with NETNS UID tcp|udp|tls ADDRESS PORT");
	if (!address_parse(&receiver.address, argv[4]))
		fail(argv[4]);
	receiver.port = (uint16_t)argument_number(argv[5], 1, 65535);
	receiver.stream = strcmp(argv[3], "tcp") == 0;
	confine(argv[1], (uid_t)argument_number(argv[2], 1, 0x7fffffff));
	fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	if (strcmp(argv[3], "tls") == 0)
		return relay_run(&receiver.address, receiver.port);

	while (open || (has_message() && now_us() < flush_until)) {
		struct pollfd polled[2] = {{.fd = -1}, {.fd = -1}};
		int wait_ms;

		if (has_message())
			have -= receiver_send(&receiver, waiting, have);
		else if (receiver.fd >= 0)
			receiver_look(&receiver);
		tell(&receiver);
		wait_ms = receiver_poll(&receiver, has_message(), &polled[1]);
		if (open && have < ROOM)
			polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
		if (!open && (wait_ms < 0 || wait_ms > 100))
			wait_ms = 100;
		if (poll(polled, 2, wait_ms) < 0 && errno != EINTR)
			fail("poll");
		if (polled[0].revents != 0 && !read_more()) {
			open = false;
			flush_until = now_us() + FLUSH_US;
		}
	}
	tell(&receiver);
	return 0;
}
