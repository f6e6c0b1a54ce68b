import { ipText, LOCAL_NAME, MOST_LOCAL, MOST_LOCAL_MEMBERS, MOST_WATCHED, type NodeReport, port } from '@spout/model'
import { LATENCY_BUCKETS } from '@spout/model/latency-counts'
import { MOST_COUNTED_POOLS, MOST_COUNTED_ROUTES, MOST_LOG_TROUBLES, SHARE_NAMES } from '@spout/model/node-report'
import { z } from 'zod'

const id = z.string().max(128)
const words = z.string().max(4096)
/** Sums over all nodes and restarts must stay exact enough as numbers. */
const count = z.number().min(0).max(1e18)

/** RFC 3339, the node's clock; empty where an agent does not know it. */
const time = z
  .string()
  .max(64)
  .regex(/^[0-9TZ:.+-]*$/, 'is not a time')
const mac = z
  .string()
  .max(64)
  .regex(/^[0-9a-fA-F:.-]*$/, 'is not a hardware address')
const responses = z.object({ '1xx': count, '2xx': count, '3xx': count, '4xx': count, '5xx': count })
const latencies = z
  .array(
    z.tuple([
      z
        .number()
        .int()
        .min(0)
        .max(LATENCY_BUCKETS - 1),
      count,
    ]),
  )
  .max(LATENCY_BUCKETS)
const countedAtMost = (most: number) =>
  z
    .record(id, z.object({ latencies, responses }))
    .refine((counted) => Object.keys(counted).length <= most, { message: `has more than ${most}` })
const shardState = z.enum(['master', 'backup', 'fault', 'stopped'])
const shard = z.object({
  number: z.number().int().min(1).max(16),
  state: shardState,
  since: time,
  takeovers: count,
  lastMove: z
    .object({
      at: time,
      from: shardState,
      to: shardState,
      reason: words.nullable(),
      silentMs: count.nullable(),
    })
    .nullable(),
})
const bgpSession = z.object({
  peerId: id,
  state: z.enum(['stopped', 'idle', 'connect', 'active', 'open-sent', 'open-confirm', 'established']),
  since: time,
  announced: count,
  lastError: words.nullable(),
  bfd: z.enum(['up', 'down', 'init', 'admin-down']).nullable(),
})

const flows = z.object({
  carried: count,
  ready: count,
  refused: count,
  insisted: count,
  missed: count.optional(),
  lastMiss: z.object({ at: time, expected: count, came: count }).nullable().optional(),
  datagrams: z.object({ sent: count, received: count, lost: count, refused: count }),
  peers: count,
  silent: count,
  silentPeers: z.array(z.object({ address: z.string().max(64), lastHeard: time.nullable() })).max(16),
  error: words.nullable(),
})

const health = z.enum(['up', 'down', 'unknown'])
const local = z.object({
  name: z.string().regex(LOCAL_NAME),
  address: ipText,
  port,
  check: z.object({
    type: z.enum(['tcp', 'http', 'https']),
    path: z.string().max(255).nullable(),
    intervalMs: z.number().int().min(1),
    timeoutMs: z.number().int().min(1),
    rise: z.number().int().min(1),
    fall: z.number().int().min(1),
  }),
  members: z
    .array(z.object({ address: ipText, port, health, reason: words.nullable(), since: time }))
    .max(MOST_LOCAL_MEMBERS),
  state: z.enum(['waiting', 'programmed', 'failed']),
  message: words.nullable(),
  isOwner: z.boolean(),
  counters: z
    .object({
      bytesIn: count,
      bytesOut: count,
      activeConnections: count,
      totalConnections: count,
      requestErrors: count,
    })
    .nullable(),
})

/** The schema of a node's report. A node is trusted with its own load balancers only, so all sizes are limited. */
export const nodeReport: z.ZodType<NodeReport> = z.object({
  session: z.string().min(1).max(128),
  sequence: z.number().int().min(1),
  entries: z.array(
    z.object({
      key: id,
      hash: z.string().max(64),
      state: z.enum(['programmed', 'failed']),
      reason: words.nullable(),
      message: words.nullable(),
      announced: z.array(z.string().max(64)).max(64),
    }),
  ),
  removed: z.array(id),
  members: z.array(
    z.object({
      loadBalancerId: id,
      poolId: id,
      memberId: id,
      health,
      reason: words.nullable(),
      since: time,
    }),
  ),
  stats: z.array(
    z.object({
      loadBalancerId: id,
      listenerId: id,
      bytesIn: count,
      bytesOut: count,
      activeConnections: count,
      totalConnections: count,
      requestErrors: count,
      http: z
        .object({
          requests: count,
          responses,
          latencies: latencies.optional(),
          parts: z
            .object({ pools: countedAtMost(MOST_COUNTED_POOLS), routes: countedAtMost(MOST_COUNTED_ROUTES + 1) })
            .optional(),
        })
        .optional(),
    }),
  ),
  inSync: z.boolean(),
  features: z.array(z.string().max(128)).max(256),
  shards: z.array(shard).max(16).optional(),
  bgpSessions: z.array(bgpSession).max(1000).optional(),
  flows: flows.nullable().optional(),
  departure: z.object({ since: time, busyProxies: count.nullable() }).nullable().optional(),
  addressConflicts: z
    .array(z.object({ address: z.string().max(64), mac, since: time }))
    .max(100)
    .optional(),
  fabricAddress: z.string().max(64).nullable().optional(),
  sights: z
    .array(z.object({ nodeId: id, answers: z.boolean() }))
    .max(MOST_WATCHED)
    .optional(),
  overShares: z
    .array(
      z.object({
        domain: z.number().int().min(1),
        loadBalancerId: id.optional(),
        share: z.enum(SHARE_NAMES),
        limit: count,
        refused: z.boolean().optional(),
      }),
    )
    .max(1000)
    .optional(),
  logTroubles: z
    .array(z.object({ loadBalancerId: id, listenerId: id, reason: z.string().max(256) }))
    .max(MOST_LOG_TROUBLES)
    .optional(),
  local: z.array(local).max(MOST_LOCAL).optional(),
  version: z
    .string()
    .max(64)
    .regex(/^[\w.+-]*$/, 'is not a version')
    .optional(),
  // A field without a line here would be dropped silently.
} satisfies Readonly<Record<keyof NodeReport, z.ZodType>>)
