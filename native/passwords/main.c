/*
 * spout-passwords: compares passwords of HTTP Basic authentication with the hashes of users, for the proxy of one tenant
 * network. The proxy cannot do it itself: such hashes are slow on purpose, and its single thread serves all clients.
 *
 *   spout-passwords UID ROOT SOCKET AGENT PID
 *
 * The proxy asks on the Unix socket ROOT/SOCKET, which belongs to UID, as it asks any authorizer: by an HTTP request. Its
 * headers are `x-spout-users`, the id of a list of users, `x-spout-realm`, and the client's `authorization`. The answer 200
 * admits the client's request. 401 contains a challenge. 500: there is no such list. 503: too many questions wait for it. The
 * agent sends lists of users on the Unix socket AGENT, which only root may use (agent.h).
 *
 * It becomes a daemon with the rights of UID, confined to ROOT, and writes its process id to the file PID. SIGTERM ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../daemon/arguments.h"
#include "../daemon/signals.h"
#include "connection.h"
#include "verify.h"

#define MOST_CONNECTIONS 512
#define MOST_WAITING_CLIENTS 128
/* A lower priority than that of the proxy, which is in the same control group. */
#define NICE 10

enum { SIGNALS, DONE, PROXY, AGENT, FIXED };

static struct connection *connections;
static size_t count;
/* The descriptors that are always polled, and then those of the connections. */
static struct pollfd polled[FIXED + MOST_CONNECTIONS];
static struct connection *polled_for[FIXED + MOST_CONNECTIONS];

/* A socket to which only this user may connect. */
static int listen_at(const char *path, uid_t uid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0177);

	errno = ENAMETOOLONG;
	if (strlen(path) >= sizeof address.sun_path)
		fail(path);
	strcpy(address.sun_path, path);
	if (fd < 0 || (unlink(path) < 0 && errno != ENOENT) ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || chown(path, uid, uid) < 0 ||
	    listen(fd, MOST_WAITING_CLIENTS) < 0)
		fail(path);
	umask(before);
	return fd;
}

/* Uses every kind of hash once: libraries that load something at the first use must do so before the root directory changes. */
static bool warm_up(void)
{
	struct digest digest;

	return cache_open() && cache_digest(&digest, "", "", "") &&
	       verify_password("", "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=") && !verify_password("", "$apr1$$") &&
	       !verify_password("", "$5$rounds=1000$a$") && !verify_password("", "$2y$04$");
}

/* Confines the process to the directory, drops root's rights, and keeps its memory from other processes of this user. */
static void confine(const char *root, uid_t uid)
{
	const struct rlimit none = {0, 0};
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || chroot(root) < 0 || chdir("/") < 0)
		fail(root);
	if (setpriority(PRIO_PROCESS, 0, NICE) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 || setgroups(0, NULL) < 0 ||
	    setgid(uid) < 0 || setuid(uid) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fail("the rights of root cannot be dropped");
	dup2(null, 2);
	if (null > 2)
		close(null);
}

/* Continues in a child process. The parent writes the child's id to the file, and ends when the child is ready. */
static int become_daemon(const char *pid_file)
{
	int ready[2];
	char byte;
	pid_t pid;
	FILE *file;

	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		fail("fork");
	if (pid == 0) {
		setsid();
		close(ready[0]);
		return ready[1];
	}
	close(ready[1]);
	/* The child has written what is wrong. */
	if (read(ready[0], &byte, 1) != 1)
		_exit(2);
	file = fopen(pid_file, "we");
	if (file == NULL || fprintf(file, "%d\n", (int)pid) < 0 || fclose(file) != 0) {
		fprintf(stderr, "%s: %s\n", pid_file, strerror(errno));
		_exit(2);
	}
	_exit(0);
}

static bool is_root(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

static void accept_one(int fd, bool is_agent)
{
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection;

	if (accepted < 0)
		return;
	if (is_agent && !is_root(accepted)) {
		close(accepted);
		return;
	}
	connection = memory_new(sizeof *connection);
	connection->fd = accepted;
	connection->is_agent = is_agent;
	connection->next = connections;
	connections = connection;
	count++;
}

/* Some connections are reserved for the agent. */
static bool has_room(bool for_agent)
{
	return count < MOST_CONNECTIONS - (for_agent ? 0 : 4);
}

static nfds_t poll_set(void)
{
	nfds_t at = FIXED;

	polled[PROXY].events = has_room(false) ? POLLIN : 0;
	polled[AGENT].events = has_room(true) ? POLLIN : 0;
	for (struct connection *one = connections; one != NULL; one = one->next, at++) {
		polled[at].fd = one->fd;
		polled[at].events = (short)(POLLIN | (one->out.len > 0 ? POLLOUT : 0));
		polled_for[at] = one;
	}
	return at;
}

static void drop(struct connection *gone)
{
	for (struct connection **at = &connections; *at != NULL; at = &(*at)->next)
		if (*at == gone) {
			*at = gone->next;
			break;
		}
	count--;
	connection_close(gone);
}

static void turn(void)
{
	nfds_t all = poll_set();

	if (poll(polled, all, -1) < 0)
		return;
	for (nfds_t at = FIXED; at < all; at++) {
		struct connection *one = polled_for[at];
		bool open = true;

		if ((polled[at].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
			open = connection_read(one);
		if (!open || !connection_write(one))
			drop(one);
	}
	if ((polled[DONE].revents & POLLIN) != 0)
		for (struct job *job; (job = queue_done()) != NULL;)
			connection_job_done(job);
	if ((polled[PROXY].revents & POLLIN) != 0)
		accept_one(polled[PROXY].fd, false);
	if ((polled[AGENT].revents & POLLIN) != 0)
		accept_one(polled[AGENT].fd, true);
}

int main(int argc, char **argv)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	uid_t uid;
	int ready;

	errno = EINVAL;
	if (argc != 6)
		fail("call with UID ROOT SOCKET AGENT PID");
	uid = (uid_t)argument_number(argv[1], 1, 0x7fffffff);
	if (snprintf(path, sizeof path, "%s/%s", argv[2], argv[3]) >= (int)sizeof path)
		fail(argv[2]);
	polled[PROXY].fd = listen_at(path, uid);
	polled[AGENT].fd = listen_at(argv[4], 0);
	if (!warm_up())
		fail("a kind of hash is not available");
	ready = become_daemon(argv[5]);
	polled[SIGNALS].fd = signals_open();
	polled[SIGNALS].events = POLLIN;
	confine(argv[2], uid);
	polled[DONE].fd = queue_open();
	polled[DONE].events = POLLIN;
	if (polled[SIGNALS].fd < 0 || polled[DONE].fd < 0 || write(ready, "", 1) != 1)
		return 2;
	close(ready);
	while ((polled[SIGNALS].revents & POLLIN) == 0)
		turn();
	return 0;
}
