#include "place.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../daemon/namespace.h"
#include "../net/netlink.h"
#include "closer.h"
#include "links.h"
#include "proxied.h"

/* A thousand announcements may wait for a slow interface. */
#define SEND_QUEUE (8 * 1024 * 1024)

static bool open_sockets(struct place *place)
{
	int queue = SEND_QUEUE;

	if (place->path != NULL && !namespace_enter(place->path, &place->fs, &place->inode))
		return false;
	place->route_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
	/* Protocol 0: the socket receives nothing. */
	place->packet_fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	links_watch(place);
	place->prepared = proxied_prepare(place->dev);
	if (place->path != NULL)
		namespace_leave();
	if (place->route_fd < 0 || place->packet_fd < 0)
		return false;
	netlink_set_up(place->route_fd);
	setsockopt(place->packet_fd, SOL_SOCKET, SO_SNDBUFFORCE, &queue, sizeof(queue));
	return true;
}

static bool ask_interface(const struct place *place, unsigned long what, struct ifreq *out)
{
	*out = (struct ifreq){0};
	memcpy(out->ifr_name, place->dev, IFNAMSIZ);
	return ioctl(place->route_fd, what, out) == 0;
}

/* Steps that failed while the interface did not exist. */
static void prepare(struct place *place)
{
	if (place->prepared || (place->path != NULL && !namespace_enter(place->path, &place->fs, &place->inode)))
		return;
	place->prepared = proxied_prepare(place->dev);
	if (place->path != NULL)
		namespace_leave();
}

static bool find_interface(struct place *place)
{
	struct ifreq interface;

	if (!ask_interface(place, SIOCGIFHWADDR, &interface))
		return false;
	if (interface.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		errno = EOPNOTSUPP;
		return false;
	}
	memcpy(place->mac, interface.ifr_hwaddr.sa_data, 6);
	if (!ask_interface(place, SIOCGIFINDEX, &interface))
		return false;
	place->ifindex = interface.ifr_ifindex;
	place->runs = ask_interface(place, SIOCGIFFLAGS, &interface) && (interface.ifr_flags & IFF_RUNNING) != 0;
	prepare(place);
	return true;
}

bool place_ready(struct place *place)
{
	if (place->ifindex > 0) {
		struct ifreq interface;
		/* The interface's own address may have changed. */
		if (ask_interface(place, SIOCGIFHWADDR, &interface))
			memcpy(place->mac, interface.ifr_hwaddr.sa_data, 6);
		return true;
	}
	if ((place->route_fd >= 0 || open_sockets(place)) && find_interface(place)) {
		place->err = 0;
		return true;
	}
	place->err = errno;
	if (place->err != ENODEV && place->err != EOPNOTSUPP)
		place_close(place);
	return false;
}

bool place_same(const struct place *place)
{
	struct ifreq interface;
	struct stat status;

	if (place->ifindex == 0)
		return true;
	if (place->path != NULL &&
	    (stat(place->path, &status) < 0 || status.st_dev != place->fs || status.st_ino != place->inode))
		return false;
	return ask_interface(place, SIOCGIFINDEX, &interface) && interface.ifr_ifindex == place->ifindex;
}

void place_close(struct place *place)
{
	close_aside(place->route_fd);
	close_aside(place->packet_fd);
	links_forget(place);
	place->route_fd = place->packet_fd = -1;
	place->ifindex = 0;
}

static uint32_t hash(uint32_t sum, const char *text)
{
	for (; *text != '\0'; text++)
		sum = (sum ^ (uint8_t)*text) * 16777619u;
	return sum;
}

static bool named(const struct place *place, const char *path, const char *dev)
{
	bool same = path == NULL ? place->path == NULL : place->path != NULL && strcmp(place->path, path) == 0;
	return same && strcmp(place->dev, dev) == 0;
}

struct place *place_find(struct mover *mover, const char *path, const char *dev)
{
	uint32_t bucket = hash(hash(2166136261u, dev), path == NULL ? "" : path) % PLACE_BUCKETS;
	struct place *place = mover->places[bucket];

	while (place != NULL && !named(place, path, dev))
		place = place->next;
	if (place != NULL)
		return place;
	place = memory_new(sizeof(*place));
	place->number = mover->next_place++;
	place->path = path == NULL ? NULL : memory_text(path);
	strncpy(place->dev, dev, IFNAMSIZ - 1);
	place->route_fd = place->packet_fd = place->link_fd = -1;
	place->next = mover->places[bucket];
	mover->places[bucket] = place;
	place_ready(place);
	return place;
}

void places_drop_unused(struct mover *mover)
{
	for (size_t bucket = 0; bucket < PLACE_BUCKETS; bucket++)
		for (struct place **link = &mover->places[bucket]; *link != NULL;) {
			struct place *place = *link;
			if (place->entries > 0) {
				link = &place->next;
				continue;
			}
			*link = place->next;
			place_close(place);
			free(place->path);
			free(place);
		}
}
