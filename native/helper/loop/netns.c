#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../net/netlink.h"
#include "helper.h"

/* Each uses a few descriptors. The least recently used one is dropped. */
#define MAX_NAMESPACES 4096

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void destroy(struct netns *netns)
{
	free(netns->path);
	loop_free(&netns->helper->loop, netns);
}

/* Closes everything that keeps the namespace alive. Probes in flight time out. */
static void forget(struct netns **link)
{
	struct netns *netns = *link;
	struct netns_cache *cache = &netns->helper->namespaces;

	for (size_t i = 0; i < cache->drop_count; i++)
		cache->drops[i](netns);
	*link = netns->next;
	cache->count--;
	netns->gone = true;
	close_fd(&netns->fd);
	close_fd(&netns->netfilter_fd);
	close_fd(&netns->route_fd);
	close_fd(&netns->packet_fd);
	close_fd(&netns->changes_fd);
	loop_close(&netns->arp);
	loop_close(&netns->ndp);
	loop_close(&netns->icmp);
	loop_close(&netns->icmp6);
	if (netns->users == 0)
		destroy(netns);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash == NULL ? path : slash + 1;
}

static void path_removed(struct watch *watch, uint32_t events)
{
	struct netns_cache *cache = container_of(watch, struct netns_cache, inotify);
	_Alignas(struct inotify_event) char data[16384];
	ssize_t len;

	(void)events;
	while ((len = read(watch->fd, data, sizeof(data))) > 0) {
		for (char *at = data; at < data + len;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			at += sizeof(*event) + event->len;
			for (struct netns **link = &cache->first; *link != NULL;) {
				struct netns *netns = *link;
				bool named = netns->path != NULL && event->len > 0 && netns->directory_watch == event->wd &&
					     strcmp(base_name(netns->path), event->name) == 0;
				if (named)
					forget(link);
				else
					link = &netns->next;
			}
		}
	}
}

void netns_open(struct helper *helper)
{
	struct netns_cache *cache = &helper->namespaces;
	int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	cache->own_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cache->inotify = (struct watch){.fd = -1, .ready = path_removed};
	if (cache->own_fd < 0 || inotify < 0 || !loop_watch(&helper->loop, &cache->inotify, inotify, EPOLLIN)) {
		perror("namespaces");
		exit(1);
	}
}

void netns_on_drop(struct netns_cache *cache, netns_drop *drop)
{
	if (cache->drop_count == NETNS_DROPS)
		abort();
	cache->drops[cache->drop_count++] = drop;
}

static int watch_directory(struct helper *helper, const char *path)
{
	char directory[4096];
	size_t len = (size_t)(base_name(path) - path);

	if (len == 0 || len >= sizeof(directory))
		return -1;
	memcpy(directory, path, len);
	directory[len] = '\0';
	/* Without a watch (a path in /proc) the namespace is dropped when the path is used again or room is needed. */
	return inotify_add_watch(helper->namespaces.inotify.fd, directory, IN_DELETE | IN_MOVED_FROM);
}

/* FNV-1a. */
static uint32_t hash_of(const char *path)
{
	uint32_t hash = 2166136261u;

	for (; path != NULL && *path != '\0'; path++)
		hash = (hash ^ (uint8_t)*path) * 16777619u;
	return hash;
}

static struct netns *new_netns(struct helper *helper, const char *path, int fd)
{
	struct netns *netns = memory_new(sizeof(*netns));
	const struct watch off = {.fd = -1};

	*netns = (struct netns){.helper = helper,
				.path = path == NULL ? NULL : memory_text(path),
				.path_hash = hash_of(path),
				.fd = fd,
				.directory_watch = path == NULL ? -1 : watch_directory(helper, path),
				.netfilter_fd = -1,
				.route_fd = -1,
				.packet_fd = -1,
				.changes_fd = -1,
				.arp = off,
				.ndp = off,
				.icmp = off,
				.icmp6 = off};
	return netns;
}

static struct netns *open_path(struct helper *helper, const char *path)
{
	struct netns *netns;
	struct stat status;
	int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (path != NULL && fd < 0)
		return NULL;
	if (path != NULL && (fstat(fd, &status) < 0 || ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	netns = new_netns(helper, path, fd);
	if (path != NULL) {
		netns->dev = status.st_dev;
		netns->ino = status.st_ino;
	}
	return netns;
}

static bool same_path(const struct netns *netns, const char *path)
{
	return path == NULL ? netns->path == NULL : netns->path != NULL && strcmp(netns->path, path) == 0;
}

static bool still_there(const struct netns *netns)
{
	struct stat status;

	return netns->path == NULL ||
	       (stat(netns->path, &status) == 0 && status.st_dev == netns->dev && status.st_ino == netns->ino);
}

static void make_room(struct netns_cache *cache)
{
	struct netns **link = &cache->first, **oldest = NULL;

	if (cache->count < MAX_NAMESPACES)
		return;
	for (; *link != NULL; link = &(*link)->next)
		if ((*link)->users == 0 && (*link)->transaction == NULL)
			oldest = link;
	if (oldest != NULL)
		forget(oldest);
}

struct netns *netns_find(struct helper *helper, const char *path)
{
	struct netns_cache *cache = &helper->namespaces;
	struct netns **link = &cache->first;
	uint32_t hash = hash_of(path);
	struct netns *netns;

	while (*link != NULL && !((*link)->path_hash == hash && same_path(*link, path)))
		link = &(*link)->next;
	if (*link != NULL && !still_there(*link)) {
		forget(link);
		link = NULL;
	}
	if (link != NULL && *link != NULL) {
		netns = *link;
		*link = netns->next;
	} else {
		netns = open_path(helper, path);
		if (netns == NULL)
			return NULL;
		make_room(cache);
		cache->count++;
	}
	netns->next = cache->first;
	cache->first = netns;
	return netns;
}

void netns_hold(struct netns *netns)
{
	netns->users++;
}

void netns_release(struct netns *netns)
{
	if (--netns->users == 0 && netns->gone)
		destroy(netns);
}

bool netns_enter(struct netns *netns)
{
	return netns->fd < 0 ? !netns->gone : setns(netns->fd, CLONE_NEWNET) == 0;
}

void netns_leave(struct netns *netns)
{
	/* The process must not continue in a wrong namespace. */
	if (netns->fd >= 0 && setns(netns->helper->namespaces.own_fd, CLONE_NEWNET) < 0)
		abort();
}

int netns_socket(struct netns *netns, int domain, int type, int protocol)
{
	int fd, err;

	if (!netns_enter(netns))
		return -1;
	fd = socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	err = errno;
	netns_leave(netns);
	errno = err;
	return fd;
}

static int netlink_socket(struct netns *netns, int *fd, int protocol)
{
	if (*fd < 0) {
		*fd = netns_socket(netns, AF_NETLINK, SOCK_RAW, protocol);
		if (*fd >= 0)
			netlink_set_up(*fd);
	}
	return *fd;
}

int netns_netfilter(struct netns *netns)
{
	return netlink_socket(netns, &netns->netfilter_fd, NETLINK_NETFILTER);
}

int netns_route(struct netns *netns)
{
	return netlink_socket(netns, &netns->route_fd, NETLINK_ROUTE);
}

/* Interface ioctls work on any socket; the namespace is the socket's. */
static bool interface_ioctl(struct netns *netns, unsigned long request, struct ifreq *interface)
{
	int fd = netns_route(netns);
	return fd >= 0 && ioctl(fd, request, interface) == 0;
}

static bool named(struct ifreq *interface, const char *dev)
{
	size_t len = strlen(dev);

	*interface = (struct ifreq){0};
	if (len >= IFNAMSIZ) {
		errno = ENODEV;
		return false;
	}
	memcpy(interface->ifr_name, dev, len);
	return true;
}

int netns_ifindex(struct netns *netns, const char *dev)
{
	struct ifreq interface;
	return named(&interface, dev) && interface_ioctl(netns, SIOCGIFINDEX, &interface) ? interface.ifr_ifindex : 0;
}

void netns_ifname(struct netns *netns, int ifindex, char *out)
{
	struct ifreq interface = {.ifr_ifindex = ifindex};

	out[0] = '\0';
	if (interface_ioctl(netns, SIOCGIFNAME, &interface))
		memcpy(out, interface.ifr_name, IFNAMSIZ);
}

bool netns_mac(struct netns *netns, const char *dev, uint8_t *mac)
{
	struct ifreq interface;

	if (!named(&interface, dev) || !interface_ioctl(netns, SIOCGIFHWADDR, &interface))
		return false;
	if (interface.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		errno = EOPNOTSUPP;
		return false;
	}
	memcpy(mac, interface.ifr_hwaddr.sa_data, 6);
	return true;
}
