/*
 * Network namespaces by path, each with the sockets that operations keep open in it.
 *
 * An open socket keeps a namespace alive. So a namespace is dropped as soon as its path is removed (inotify), and every use
 * checks that the path still names the same namespace.
 */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "loop.h"

struct helper;
struct transaction;
struct neighbour_probe;
struct defender;

struct netns {
	struct helper *helper;
	char *path; /* NULL: the helper's own */
	uint32_t path_hash;
	int fd;	    /* -1: the helper's own */
	dev_t dev;
	ino_t ino;
	int directory_watch; /* inotify's number for the directory of `path` */
	unsigned users;	     /* probes, announcements and defenders that use it */
	bool gone;
	struct netns *next;

	/* Sockets, -1 until wanted. */
	int netfilter_fd;
	int route_fd;
	int packet_fd;
	int changes_fd; /* receives notifications of addresses, routes and interfaces */
	uint64_t changes_mark;
	struct watch arp;
	struct watch ndp;
	struct watch icmp;
	struct watch icmp6;

	struct transaction *transaction; /* an nft-batch that has more lines to come */
	struct neighbour_probe *neighbour_probes;
	struct defender *defenders;
};

/* Drops what one owner keeps in a namespace. */
typedef void netns_drop(struct netns *netns);

#define NETNS_DROPS 2

struct netns_cache {
	struct netns *first; /* most recently used first */
	unsigned count;
	int own_fd;
	struct watch inotify;
	netns_drop *drops[NETNS_DROPS];
	size_t drop_count;
};

void netns_open(struct helper *helper);
/* Registers a callback for every namespace that is dropped. Called at the start, by owners of state in namespaces. */
void netns_on_drop(struct netns_cache *cache, netns_drop *drop);
/* The namespace of that path (NULL: the helper's own). NULL with errno when it is none. */
struct netns *netns_find(struct helper *helper, const char *path);

void netns_hold(struct netns *netns);
void netns_release(struct netns *netns);

/* Enters the namespace, and returns to the own one. Nothing may block in between. */
bool netns_enter(struct netns *netns);
void netns_leave(struct netns *netns);

/* A non-blocking socket inside the namespace; -1 with errno. */
int netns_socket(struct netns *netns, int domain, int type, int protocol);
/* Netlink sockets, opened once; -1 with errno. */
int netns_netfilter(struct netns *netns);
int netns_route(struct netns *netns);

/* 0 with errno when there is no such interface. */
int netns_ifindex(struct netns *netns, const char *dev);
/* Writes IFNAMSIZ bytes; empty when there is no such interface. */
void netns_ifname(struct netns *netns, int ifindex, char *out);
/* The six bytes of an Ethernet address; false with errno when the interface has none. */
bool netns_mac(struct netns *netns, const char *dev, uint8_t *mac);
