import { DEFAULT_SHARES } from '@spout/dataplane/network-shares'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { listenAddress } from './listen-address.ts'

const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
const interfaceName = z.string().regex(/^[A-Za-z0-9._-]{1,15}$/, 'is not the name of a network interface')

/** Every setting of the agent with its default. */
export const agentConfig = z.strictObject({
  /** Where the node's identity and its last good state live. */
  stateDirectory: z.string().min(1).default('/var/lib/spout-agent'),
  /** Begins the name of everything this agent makes on the machine; two agents on one machine need two. */
  instance: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,5}$/, 'is not a lower-case letter and up to 5 letters or digits')
    .default('spout'),
  server: section({
    /** The control plane's agent link. */
    url: z
      .url({ protocol: /^https$/, error: 'is not a URL like https://control:9131' })
      .default('https://localhost:9131'),
    /** File with the one-time token; read only while the node has no identity. */
    enrolmentTokenFile: z.string().min(1).default('/etc/spout/enrolment-token'),
    /** In a pod of the cluster that the control plane is in: the pod's token, which enrols the node instead. */
    serviceAccountTokenFile: z.string().default(''),
    /** The link's authority, PEM; needed with it. Another one than that of the identity makes the node enrol anew. */
    caFile: z.string().default(''),
  }).prefault({}),
  fabric: section({
    /** The interface through which clients come. */
    interface: interfaceName.or(z.literal('')).default('eth0'),
    /** Where the interface is left empty: it is the one that has this address. */
    address: z
      .string()
      .regex(/^[0-9a-fA-F:.]*$/, 'is not an address')
      .default(''),
    /** Network namespace that faces the fabric; empty for the agent's own. */
    namespace: z
      .string()
      .regex(/^[A-Za-z0-9._-]{0,64}$/, 'is not the name of a network namespace')
      .default(''),
  }).prefault({}),
  /** The node's interface for each physical network: `physnet1: eth1`. */
  segments: z.record(z.string().min(1).max(32), interfaceName).default({}),
  /** Physical networks that are the node's own way to wherever it can go: to the pods of the cluster that it is in. */
  hostSegments: z.array(z.string().min(1).max(32)).max(16).default([]),
  /** Prefixes that no packet of a tenant may be sent to. */
  protectedCidrs: z.array(z.string()).max(64).default([]),
  helper: section({
    path: z.string().min(1).default('/usr/lib/spout/spout-helper'),
  }).prefault({}),
  haproxy: section({
    executable: z.string().min(1).default('/usr/sbin/haproxy'),
    /** Memory-backed; sockets lie in it, so its path must be short. */
    runDirectory: z.string().min(1).max(60).default('/run/spout/haproxy'),
    /** The proxy of domain N runs as user and group `firstUid + N`. */
    firstUid: z.number().int().min(100_000).max(0x7000_0000).default(0x2000_0000),
    /** Most connections of one tenant network's proxy at a time; more wait. */
    maxConnections: z.number().int().min(16).max(200_000).default(4_000),
    /** Most of them that one source may have, as a share; 1 is no bound. */
    sourceShare: z.number().min(0.01).max(1).default(0.5),
    /** How long the header of a request may take. */
    requestSeconds: z.number().min(1).max(600).default(10),
    /** Memory of one tenant network's proxy, the processes that it replaced included. */
    memoryMegabytes: z.number().int().min(32).max(1_000_000).default(256),
    /** Processor time of the same, in processors: 0.5 is half of one. */
    processors: z.number().min(0.05).max(1_024).default(1),
    /** Control group above those of the domains. */
    cgroup: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/, 'is not a name like spout')
      .default('spout'),
  }).prefault({}),
  vrrp: section({
    executable: z.string().min(1).default('/usr/sbin/keepalived'),
    /** The program that moves a shard's addresses. */
    mover: z.string().min(1).default('/usr/lib/spout/spout-mover'),
    /** Memory-backed and the agent's own: what runs is found again by it. */
    directory: z.string().min(1).max(60).default('/run/spout/vrrp'),
  }).prefault({}),
  flows: section({
    /** The program that tells the group's other nodes of the flows that this one carries. */
    executable: z.string().min(1).default('/usr/lib/spout/spout-flows'),
    /** Memory-backed and the agent's own: what runs is found again by it. */
    directory: z.string().min(1).max(60).default('/run/spout/flows'),
  }).prefault({}),
  bgp: section({
    executable: z.string().min(1).default('/usr/sbin/bird'),
    /** Memory-backed; sockets lie in it, so its path must be short. */
    directory: z.string().min(1).max(60).default('/run/spout/bgp'),
    /** Port on which peers reach this node. */
    listenPort: z.number().int().min(1).max(65_535).default(179),
    /** Kernel routing table that holds what is announced; no rule looks into it. */
    table: z.number().int().min(1).max(0xffff_ffff).default(7200),
    /** The routing daemon runs as this user. */
    user: z
      .string()
      .regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'is not the name of a user')
      .default('bird'),
  }).prefault({}),
  /** What one tenant network may take of this node, from its clients and again from its members; the rest is dropped. */
  shares: section({
    /** Packets in a second for each processor of the node. */
    packetsPerProcessor: z.number().int().min(1_000).max(100_000_000).default(DEFAULT_SHARES.packetsPerProcessor),
    /** Connections that begin in a second, for each processor of the node. */
    newFlowsPerProcessor: z.number().int().min(10).max(10_000_000).default(DEFAULT_SHARES.newFlowsPerProcessor),
    /** The kernel counts no more than 16,000. */
    megabytesPerSecond: z.number().int().min(1).max(16_000).default(DEFAULT_SHARES.megabytesPerSecond),
  }).prefault({}),
  /** What tenants may have probed by this node: places are for probes under way, rates for those that begin. */
  checks: section({
    /** Places that all projects share, beside those that each has for itself. */
    most: z.number().int().min(1).max(100_000).default(512),
    /** Of one project, its own places among them. */
    mostOfProject: z.number().int().min(1).max(100_000).default(256),
    /** What each project has whatever the others do. */
    ownShare: z.number().int().min(1).max(10_000).default(32),
    /** Of one project. */
    perSecond: z.number().int().min(1).max(1_000_000).default(2_000),
    /** Of one address and port, by whatever pools and monitors. */
    perSecondOfTarget: z.number().int().min(1).max(10_000).default(50),
  })
    .refine(({ ownShare, mostOfProject }) => ownShare <= mostOfProject, {
      path: ['ownShare'],
      error: 'is more than checks.mostOfProject, which it is a part of',
    })
    .prefault({}),
  metrics: section({
    /** `address:port` where Prometheus finds this agent's figures, without TLS; empty for nowhere. */
    listen: z
      .string()
      .regex(/^(|([0-9.]+|\[[0-9a-fA-F:.]+\]):[1-9][0-9]{0,4})$/, 'is not like 127.0.0.1:9132 or [::1]:9132')
      .default(''),
    /** A file with the token that they are given for; empty asks for none. */
    tokenFile: z.string().default(''),
  })
    .refine(({ listen, tokenFile }) => listen === '' || isLoopback(listenAddress(listen).host) || tokenFile !== '', {
      path: ['tokenFile'],
      error: 'is not set, and metrics.listen is beyond loopback: figures are not for everybody who reaches it',
    })
    .prefault({}),
  log: section({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  }).prefault({}),
})
export type AgentConfig = z.output<typeof agentConfig>
