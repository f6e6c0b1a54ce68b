/* The state of the flow replicator. One thread uses it; a second one writes the state file (writer.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../daemon/clock.h"
#include "../daemon/memory.h"
#include "../net/address.h"
#include "../net/ctnetlink.h"

#define KEY_BYTES 32
#define ERROR_TEXT 160
#define US_PER_S 1000000ull

/* A flow as peers send it. */
struct flow_record {
	uint8_t family; /* AF_INET or AF_INET6 */
	uint8_t protocol;
	uint8_t tcp_state; /* enum tcp_conntrack; 0 for UDP */
	uint32_t domain;
	uint32_t mark;
	struct tuple original, reply;
};

struct flows;
struct domain;
struct peer;

struct flow {
	struct flow *next; /* in its bucket */
	struct flow_record record;
	/* This node carries the flow: the address that it is translated to is bound here. */
	bool local;
	/* The kernel's entry has the short timeout of an entry that a peer renews. */
	bool replica;
	uint32_t ct_id; /* network order; 0: not known */
	uint32_t scan;	/* the last scan that saw it */
};

/* A socket of a domain, and the function that reads it. Each epoll event of a domain points to one. */
struct source {
	struct domain *domain;
	void (*read)(struct flows *flows, struct domain *domain);
};

/* How many flows of a domain a peer carries, compared with what is held here. */
struct counts {
	uint32_t advertised;	 /* the last count */
	struct peer *advertiser; /* who sent it; NULL: nobody */
	unsigned ticks_short; /* ticks in a row with fewer flows held here */
	unsigned requests;	   /* requests in a row */
	uint64_t request_us; /* the earliest time of the next request */
	/* After a takeover: flows that were advertised, flows that arrived, and when they are compared; 0: no takeover. */
	uint32_t expected, arrived;
	uint64_t takeover_due_us;
	/* The last takeover that missed flows (ms since the epoch; 0: never), and the total of missed flows. */
	int64_t missed_ms;
	uint32_t missed_of, missed_arrived;
	uint64_t missed;
};

struct domain {
	struct domain *next;
	uint32_t number;
	char *path;
	struct address *shared;
	size_t shared_count;
	bool kept; /* also in the configuration that is being applied */
	char error[ERROR_TEXT];
	/* Its namespace. Descriptors are -1 while it is closed. */
	dev_t fs;
	ino_t inode;
	int event_fd;
	int request_fd;
	int address_fd;
	struct source events, addresses;
	uint32_t request_port;
	uint32_t seq;
	uint64_t scan_us; /* when the next scan is due */
	uint32_t scan;
	uint64_t established_s; /* the kernel's timeout for established TCP flows */
	bool *bound;		/* which shared addresses are bound here */
	bool bound_changed;		/* since the last scan */
	bool bound_gained;		/* an address came since the last scan */
	bool bound_uncertain;		/* `bound` may be wrong: the next scan dumps */
	/* A scan has succeeded since the namespace was opened: a flow that a later one finds first began here. */
	bool scanned;
	/* Its flows. */
	struct flow **buckets;
	size_t bucket_count;
	size_t local, remote;
	/* Peers' flows that the kernel refused, and peers' records of flows that this node carries. */
	uint64_t refused, insisted;
	struct counts counts;
	/* When this node last carried flows. Counts of zero are advertised for a while after. */
	uint64_t counted_us;
};

struct peer {
	struct peer *next;
	struct address address;
	uint16_t port;
	bool kept;
	/* Our epoch towards this peer; never 0. A peer that is removed and added again gets a new one. */
	uint64_t own_epoch;
	/* Its epoch; 0 until the handshake. */
	uint64_t epoch;
	uint64_t heard_seq;
	/* The challenge that it must echo to prove that it is alive, and the one that we echo. */
	uint64_t challenge, echo;
	/* MAC keys of both directions (datagram.h, version 2). */
	uint8_t send_key[KEY_BYTES], receive_key[KEY_BYTES];
	/* When it last showed that it understands version 2; 0: not within DATAGRAM_UNDERSTOOD_US. */
	uint64_t understood_us;
	/* It has sent version 2 since: version 1 is refused. */
	bool speaks_two;
	uint64_t sent_seq;
	uint64_t sent, received, lost, refused;
	int64_t heard_ms;  /* since the epoch; 0: never */
	uint64_t heard_us; /* or when it was added */
	/* Datagrams were lost: the next hello requests everything. */
	bool wants_all;
	uint64_t requested_us;
	/* The whole table is being sent; and again afterwards, when it was requested meanwhile. */
	bool sending, send_again;
	/* Only `sending_domain` is being sent. */
	bool sending_one;
	const struct domain *sending_domain;
	size_t sending_bucket;
};

struct file_mark {
	dev_t fs;
	ino_t inode;
	struct timespec changed;
};

struct config {
	struct address address;
	uint16_t port;
	uint8_t key[KEY_BYTES];
	uint64_t refresh_us;
	uint32_t tcp_timeout_s, udp_timeout_s;
};

struct flows {
	const char *directory;
	bool configured;
	/* The file that was read last. Inotify events may be lost, so it is compared once a second. */
	struct file_mark config_mark;
	struct config config;
	char config_error[ERROR_TEXT];
	char listen_error[ERROR_TEXT];
	int epoll_fd;
	int socket_fd; /* -1: could not be bound */
	struct domain *domains;
	struct peer *peers;
	uint64_t strangers; /* datagrams from addresses that are no peer */
	/* Records that will be sent to every peer. */
	struct buf pending;
	uint64_t flush_us; /* when they must be sent; 0: there are none */
	uint64_t send_us;  /* when to continue sending whole tables; 0: no peer waits */
	uint64_t tick_us;
	uint64_t written_us; /* state.json */
	bool errors_changed;
};
