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
#include "bound.h"
#include "conntrack.h"
#include "counts.h"
#include "error.h"
#include "scan.h"
#include "send.h"
#include "table.h"

static void read_addresses(struct flows *flows, struct domain *domain)
{
	bound_read(domain);
	if (domain->bound_uncertain || domain->bound_changed)
		scan_table(flows, domain);
}

struct domain *domain_add(struct flows *flows, uint32_t number)
{
	struct domain *domain = memory_new(sizeof(*domain));

	domain->number = number;
	domain->event_fd = domain->request_fd = domain->address_fd = -1;
	domain->events = (struct source){domain, scan_events};
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
	/* The kernel puts this port id into the events that our own requests cause. */
	domain->request_port = address.nl_pid;
	return true;
}

/* Files below /proc/sys/net belong to the namespace of the thread that opens them. */
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
	/* 1: the kernel reports the end of a flow even if nobody listened for events when the flow began. */
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
	opened = open_events(domain) && open_requests(domain) && bound_open(domain);
	err = errno;
	if (opened && (err = bound_query(domain)) != 0)
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

void domain_attach(struct flows *flows, struct domain *domain)
{
	if (domain->event_fd >= 0 && same_namespace(domain))
		return;
	domain_detach(domain);
	if (!open_domain(flows, domain)) {
		set_error(flows, domain->error, "namespace %s: %s", domain->path, strerror(errno));
		domain_detach(domain);
		return;
	}
	set_error(flows, domain->error, "%s", "");
	scan_table(flows, domain);
	/* Records that peers sent while the namespace was closed were dropped. */
	send_request(flows, domain);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void domain_detach(struct domain *domain)
{
	/* Closing a descriptor removes it from the epoll set. */
	close_fd(&domain->event_fd);
	close_fd(&domain->request_fd);
	close_fd(&domain->address_fd);
	table_clear(domain);
	counts_reset(domain);
	domain->scanned = false;
}

void domain_free(struct domain *domain)
{
	domain_detach(domain);
	free(domain->path);
	free(domain->shared);
	free(domain->bound);
	free(domain);
}
