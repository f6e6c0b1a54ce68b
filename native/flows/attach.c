#include "attach.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../daemon/namespace.h"
#include "../net/netlink.h"
#include "conntrack.h"
#include "error.h"
#include "holdings.h"
#include "look.h"
#include "promise.h"
#include "table.h"
#include "tell.h"

static void read_addresses(struct flows *flows, struct domain *domain)
{
	holdings_read(domain);
	if (domain->unsure || domain->moved)
		look_at_all(flows, domain);
}

struct domain *domain_add(struct flows *flows, uint32_t number)
{
	struct domain *domain = memory_new(sizeof(*domain));

	domain->number = number;
	domain->event_fd = domain->request_fd = domain->address_fd = -1;
	domain->events = (struct source){domain, look_at_events};
	domain->addresses = (struct source){domain, read_addresses};
	domain->next = flows->domains;
	flows->domains = domain;
	return domain;
}

static bool open_events(struct domain *domain)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_NETFILTER);

	domain->event_fd = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return false;
	netlink_set_up(fd);
	for (size_t i = 0; i < CONNTRACK_GROUP_COUNT; i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &CONNTRACK_GROUPS[i], sizeof(int)) < 0)
			return false;
	return true;
}

static bool open_requests(struct domain *domain)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(address);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_NETFILTER);

	domain->request_fd = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return false;
	netlink_set_up(fd);
	/* By it the kernel marks events that are our own doing. */
	domain->request_port = address.nl_pid;
	return true;
}

/* Files below /proc/sys/net are those of the namespace that the reader is in. */
static void read_settings(struct domain *domain)
{
	FILE *file = fopen("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_established", "re");
	unsigned long long seconds;

	domain->established_s = 432000;
	if (file != NULL) {
		if (fscanf(file, "%llu", &seconds) == 1 && seconds > 0 && seconds <= UINT32_MAX)
			domain->established_s = seconds;
		fclose(file);
	}
	/* Also flows that begin while nobody listens shall tell of their end to whoever listens then. */
	file = fopen("/proc/sys/net/netfilter/nf_conntrack_events", "we");
	if (file != NULL) {
		fputs("1", file);
		fclose(file);
	}
}

static bool watch(const struct flows *flows, int fd, struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(flows->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_domain(struct flows *flows, struct domain *domain)
{
	bool opened;
	int err;

	if (!namespace_enter(domain->path, &domain->fs, &domain->inode))
		return false;
	opened = open_events(domain) && open_requests(domain) && holdings_open(domain);
	err = errno;
	if (opened && (err = holdings_ask(domain)) != 0)
		opened = false;
	if (opened)
		read_settings(domain);
	namespace_leave();
	errno = err;
	return opened && watch(flows, domain->event_fd, &domain->events) && watch(flows, domain->address_fd, &domain->addresses);
}

static bool same_namespace(const struct domain *domain)
{
	struct stat status;

	return stat(domain->path, &status) == 0 && status.st_dev == domain->fs && status.st_ino == domain->inode;
}

void domain_ready(struct flows *flows, struct domain *domain)
{
	if (domain->event_fd >= 0 && same_namespace(domain))
		return;
	domain_close(domain);
	if (!open_domain(flows, domain)) {
		say_error(flows, domain->error, "namespace %s: %s", domain->path, strerror(errno));
		domain_close(domain);
		return;
	}
	say_error(flows, domain->error, "%s", "");
	look_at_all(flows, domain);
	/* What they told of it until now found nobody. */
	tell_ask(flows, domain);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void domain_close(struct domain *domain)
{
	/* Closing takes it out of the epoll set. */
	close_fd(&domain->event_fd);
	close_fd(&domain->request_fd);
	close_fd(&domain->address_fd);
	table_clear(domain);
	promise_break(domain);
}

void domain_free(struct domain *domain)
{
	domain_close(domain);
	free(domain->path);
	free(domain->shared);
	free(domain->held);
	free(domain);
}
