/*
 * Makes faults, quickly and at a known time. One process for all of them, in the switch's namespace, with priority over
 * ordinary processes: neither process starts nor a busy machine delay the parts of a fault.
 *
 * A line on stdin is a list of verbs with their objects, done in that order. The answer is `FROM UNTIL` in ns on
 * CLOCK_MONOTONIC, before the first and after the last, or `error TEXT`.
 *   down DEV... | up DEV...       the interface (its other end loses the carrier)
 *   mute PORT... | unmute PORT... a bridge port neither sends nor forwards; done in microseconds, for power cuts
 *   kill PID... | stop PID... | cont PID...
 */
#include <errno.h>
#include <linux/if_bridge.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

static int netlink, control;

static int set_up(const char *device, bool up)
{
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (ioctl(control, SIOCGIFFLAGS, &request) < 0)
		return -1;
	request.ifr_flags = up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
	return ioctl(control, SIOCSIFFLAGS, &request);
}

static int set_port(const char *port, int state)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
		struct nlattr nest, state;
		char value[4];
	} request = {
		.head = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_SETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_family = PF_BRIDGE, .ifi_index = if_nametoindex(port) },
		.nest = { sizeof(struct nlattr) * 2 + 4, IFLA_PROTINFO | NLA_F_NESTED },
		.state = { sizeof(struct nlattr) + 1, IFLA_BRPORT_STATE },
		.value = { state },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[512];
	} reply;

	if (send(netlink, &request, sizeof(request), 0) < 0 || recv(netlink, &reply, sizeof(reply), 0) < 0)
		return -1;
	errno = -reply.error.error;
	return reply.error.error ? -1 : 0;
}

/* A process that ended by itself needs no killing. */
static int send_signal(const char *pid, int number)
{
	return kill(atoi(pid), number) < 0 && errno != ESRCH ? -1 : 0;
}

static int harm(const char *verb, const char *what)
{
	if (!strcmp(verb, "down") || !strcmp(verb, "up"))
		return set_up(what, !strcmp(verb, "up"));
	if (!strcmp(verb, "mute"))
		return set_port(what, BR_STATE_DISABLED);
	if (!strcmp(verb, "unmute"))
		return set_port(what, BR_STATE_FORWARDING);
	return send_signal(what, !strcmp(verb, "kill") ? SIGKILL : !strcmp(verb, "stop") ? SIGSTOP : SIGCONT);
}

static bool is_verb(const char *word)
{
	static const char *const verbs[] = { "down", "up", "mute", "unmute", "kill", "stop", "cont" };

	for (size_t n = 0; n < sizeof(verbs) / sizeof(*verbs); n++)
		if (!strcmp(word, verbs[n]))
			return true;
	return false;
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	control = socket(AF_INET, SOCK_DGRAM, 0);
	become_realtime(70);
	while (getline(&line, &room, stdin) > 0) {
		const char *verb = NULL;
		char *rest = NULL;
		long long from = now_ns();
		bool failed = false;

		for (char *word = strtok_r(line, " \n", &rest); word && !failed; word = strtok_r(NULL, " \n", &rest))
			if (is_verb(word))
				verb = word;
			else if (!verb || harm(verb, word) < 0) {
				printf("error %s %s: %s\n", verb ? verb : "no verb", word, strerror(errno));
				failed = true;
			}
		if (!failed)
			printf("%lld %lld\n", from, now_ns());
		fflush(stdout);
	}
	return 0;
}
