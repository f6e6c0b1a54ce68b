/* The state of the mover. One thread uses it; a second one only closes descriptors (closer.h). */
#pragma once
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../daemon/clock.h"
#include "../daemon/memory.h"
#include "../net/address.h"

/* A shard has a virtual router id of its own, so there are no more than that. */
#define SHARDS 256
/* The protocol number of every address, route and neighbour of the mover, by which the next mover finds them. */
#define MARK 0x53
/* RFC 5227 announces twice. A third round covers a switch that drops frames while it learns the new port. */
#define ROUNDS 3

enum state { STATE_BACKUP, STATE_MASTER, STATE_FAULT, STATE_STOPPED };

/* Why a move happened. */
enum reason { REASON_VRRP, REASON_FROZEN, REASON_CONFLICT, REASON_STOP };

struct move {
	bool any;
	enum state to;
	enum reason reason;
	int64_t at_ms; /* since the epoch */
	uint32_t addresses;
	uint64_t took_us;
	int64_t silent_us; /* from the last advert of the master before; -1: none was heard, or not a takeover */
};

struct shard {
	bool known; /* in the table, or in a notification of keepalived */
	enum state state;
	enum state told; /* keepalived's last notification; `state` differs when the mover stopped by itself */
	int64_t since_ms; /* since the epoch */
	uint64_t takeovers;
	struct move last;
	uint8_t vrid;		   /* 0: none */
	uint64_t heard_us;	   /* when another sender was last heard with our virtual router id; 0: never */
	int64_t silent_us;	   /* how long that was ago at the takeover */
	uint64_t contested_us;	   /* the same, while this node was master */
	uint64_t reannounce_us;	   /* when to announce the addresses again; 0: not needed */
	uint64_t reannounced_us;   /* when that was done last */
	/* The move under way. */
	bool moving;
	uint32_t moved;
};

/* An interface of a namespace, with the sockets that act there. */
struct place {
	struct place *next; /* in its bucket */
	uint32_t number;    /* orders entries */
	char *path;	    /* NULL: the mover's own namespace */
	char dev[IFNAMSIZ];
	dev_t fs;
	ino_t inode;
	int ifindex; /* 0: not there */
	int err;     /* why not */
	uint8_t mac[6];
	int route_fd;
	int packet_fd;
	int link_fd;
	bool prepared; /* the settings for proxied addresses are made */
	bool proxies;  /* IPv6 addresses are proxied here (proxied.h) */
	bool runs;     /* up, and with a carrier */
	bool back;     /* it runs again after it did not */
	uint32_t entries; /* that use this place; one without any is closed */
};

#define PLACE_BUCKETS 1024

/* The two parts of a proxied address. */
#define FOUND_ROUTE 1
#define FOUND_NEIGHBOUR 2

/* An address of the table. */
struct entry {
	struct place *place;
	struct address address;
	uint8_t shard;
	bool bound;
	bool proxied;	 /* if bound, then so */
	uint8_t found;	 /* FOUND_*, while an earlier mover's addresses are looked for */
	uint8_t rounds;	 /* announcements so far, up to ROUNDS */
	int err;	 /* why it is not bound */
	uint64_t due_us; /* the next announcement */
};

struct bad_line {
	uint32_t line;
	const char *error;
};

#define BAD_LINES 100

struct table {
	uint64_t generation;
	uint64_t freeze_us; /* 0: no watch */
	uint8_t vrids[SHARDS];
	struct entry *entries; /* sorted by place and address */
	size_t count;
	struct bad_line bad[BAD_LINES];
	size_t bad_count;
};

/* The keepalived process that elects. The mover kills it after a freeze. */
struct keepalived {
	pid_t pid;
	int fd;		/* pidfd; -1: none */
	char start[24]; /* clock ticks since boot: identifies the process together with the pid */
};

struct mover {
	const char *directory;
	struct keepalived keepalived;
	struct shard shards[SHARDS];
	struct table table;
	struct place *places[PLACE_BUCKETS];
	uint32_t next_place;
	struct buf notifications; /* an unfinished line of the FIFO */
	uint64_t generation_done;
	uint64_t swept;
	uint64_t conflicts;
	uint64_t announce_due_us; /* the earliest of all entries; 0: none */
	uint64_t retry_us;	  /* when to try again what failed; 0: nothing did */
	uint64_t check_us;	  /* when to check whether places were replaced */
	uint64_t flush_us;	  /* when to flush the neighbour queue of a fabric whose link is down; 0: none is */
	bool changed;		  /* since state.json was written */
};


bool is_master(const struct mover *mover, const struct entry *entry);
bool masters_any(const struct mover *mover);
