import { DEFAULT_SHARES } from '@spout/dataplane/network-shares'
import { interfaceName } from '@spout/model/fabric-choice'
import { endpointIpText } from '@spout/model/scalars'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { listenAddress } from './listen-address.ts'
import { localConfig } from './local-config.ts'

const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)

const linkUrl = z.url({ protocol: /^https$/, error: 'is not a URL like https://control:9131' })

/** Every setting of the agent with its default. */
export const agentConfig = z.strictObject({
  /** Where the node's identity and its last good state live. */
  stateDirectory: z.string().min(1).default('/var/lib/spout-agent'),
  /** Prefix of all names that this agent makes on the machine. Two agents on one machine need different ones. */
  instance: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,5}$/, 'is not a lower-case letter and up to 5 letters or digits')
    .default('spout'),
  /**
   * The daemons that the agent starts end with it, as in a container: it hands its addresses to other nodes before. False:
   * they go on, and so does traffic.
   */
  daemonsEndWithAgent: z.boolean().default(false),
  server: section({
    /** The control plane's agent link. Empty: `https://localhost:9131`, or none if `local` has load balancers. */
    url: z
      .string()
      .refine((url) => url === '' || URL.parse(url)?.protocol === 'https:', 'is not a URL like https://control:9131')
      .default(''),
    /** The same of the installation's other control planes. The agent follows the one that leads. */
    others: z.array(linkUrl).max(15).default([]),
    /** File with the one-time token; read only while the node has no identity. */
    enrolmentTokenFile: z.string().min(1).default('/etc/spout/enrolment-token'),
    /** In a pod of the control plane's cluster: the file with the pod's token, which enrols the node instead. */
    serviceAccountTokenFile: z.string().default(''),
    /**
     * The link's certificate authority, PEM; required with `serviceAccountTokenFile`. If it differs from the identity's,
     * the node enrols again.
     */
    caFile: z.string().default(''),
  }).prefault({}),
  local: localConfig,
  fabric: section({
    /** The interface that faces clients. */
    interface: interfaceName.or(z.literal('')).default('eth0'),
    /** If the interface is empty: an address in its network, such as the router's, by which it is found. Absent: none. */
    reaches: endpointIpText.optional(),
    /** Without both: the address that identifies it. */
    address: z
      .string()
      .regex(/^[0-9a-fA-F:.]*$/, 'is not an address')
      .default(''),
    /** Network namespace that faces the fabric; empty for the agent's own. */
    namespace: z
      .string()
      .regex(/^[A-Za-z0-9._-]{0,64}$/, 'is not the name of a network namespace')
      .default(''),
  })
    .refine(({ interface: name, reaches }) => name === '' || reaches === undefined, {
      path: ['reaches'],
      error: 'is not used while fabric.interface names the interface: leave that empty',
    })
    .prefault({}),
  /** The node's interface for each physical network: `physnet1: eth1`. */
  segments: z.record(z.string().min(1).max(32), interfaceName).default({}),
  /** Physical networks that are reached through the node's own routes, such as the pods of its Kubernetes cluster. */
  hostSegments: z.array(z.string().min(1).max(32)).max(16).default([]),
  /** Prefixes that no tenant's packet may be sent to. */
  protectedCidrs: z.array(z.string()).max(64).default([]),
  /**
   * Drivers in processes of their own, by name: `edge: { socket: /run/edge.sock }`. One without features follows all load
   * balancers, whose addresses are announced once it has confirmed them.
   */
  externalDrivers: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'is not a name like edge-firewall'),
      section({
        /** Path of the UNIX socket on which the driver listens. */
        socket: z
          .string()
          .regex(/^\/.+$/, 'is not an absolute path')
          .max(107),
        /** What it carries of the packet path, ahead of the agent's own driver. */
        features: z
          .array(z.string().regex(/^(dsr|l4\.[a-z-]{1,40})$/, 'is not a feature of the packet path'))
          .max(32)
          .default([]),
      }),
    )
    .default({}),
  helper: section({
    path: z.string().min(1).default('/usr/lib/spout/spout-helper'),
  }).prefault({}),
  haproxy: section({
    executable: z.string().min(1).default('/usr/sbin/haproxy'),
    /**
     * Memory-backed; sockets lie in it, so its path must be short. The private keys of listeners are beside it, in
     * `<runDirectory>-certificates`.
     */
    runDirectory: z.string().min(1).max(60).default('/run/spout/haproxy'),
    /** The program that compares passwords of basic authentication; a node without it offers none. */
    passwords: z.string().min(1).default('/usr/lib/spout/spout-passwords'),
    /** The proxy of domain N runs as user and group `firstUid + N`. */
    firstUid: z.number().int().min(100_000).max(0x7000_0000).default(0x2000_0000),
    /** Maximum of concurrent connections of one tenant network's proxy. More wait. */
    maxConnections: z.number().int().min(16).max(200_000).default(4_000),
    /** Maximum part of them for one source address; 1 is no limit. */
    sourceShare: z.number().min(0.01).max(1).default(0.5),
    /** Time limit for the header of a request. */
    requestSeconds: z.number().min(1).max(600).default(10),
    /** Memory of one tenant network's proxy, including replaced processes. */
    memoryMegabytes: z.number().int().min(32).max(1_000_000).default(256),
    /** Processor time of the same processes, in processors: 0.5 is half of one. */
    processors: z.number().min(0.05).max(1_024).default(1),
    /** Log lines per second that the agent reads of one tenant network's proxy, for listeners that log or measure. */
    linesPerSecond: z.number().int().min(1).max(1_000_000).default(2_000),
    /** Parent of the domains' control groups. */
    cgroup: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/, 'is not a name like spout')
      .default('spout'),
  }).prefault({}),
  /** Access logs: a line for each request of the listeners that ask for them. */
  accessLogs: section({
    /** Directory with a file for each project, `<project id>.log`. Empty: this node writes none. */
    directory: z
      .string()
      .regex(/^(|\/.+)$/, 'is not an absolute path')
      .default(''),
    /** Size of one file. */
    megabytes: z.number().min(0.001).max(100_000).default(100),
    /** Files of one project; a full one is renamed, and the oldest goes. */
    files: z.number().int().min(2).max(100).default(5),
    /** The program that sends them to syslog receivers; a node without it offers none. */
    sender: z.string().min(1).default('/usr/lib/spout/spout-syslog'),
  }).prefault({}),
  vrrp: section({
    executable: z.string().min(1).default('/usr/sbin/keepalived'),
    /** The program that moves a shard's addresses. */
    mover: z.string().min(1).default('/usr/lib/spout/spout-mover'),
    /** Memory-backed and used by this agent alone. Running processes are found by it. */
    directory: z.string().min(1).max(60).default('/run/spout/vrrp'),
  }).prefault({}),
  flows: section({
    /** The program that replicates this node's flows to the other nodes of the group. */
    executable: z.string().min(1).default('/usr/lib/spout/spout-flows'),
    /** Memory-backed and used by this agent alone. Running processes are found by it. */
    directory: z.string().min(1).max(60).default('/run/spout/flows'),
  }).prefault({}),
  bgp: section({
    executable: z.string().min(1).default('/usr/sbin/bird'),
    /** Memory-backed; sockets lie in it, so its path must be short. */
    directory: z.string().min(1).max(60).default('/run/spout/bgp'),
    /** Port on which peers reach this node. */
    listenPort: z.number().int().min(1).max(65_535).default(179),
    /** Kernel routing table for announced routes. No rule refers to it. */
    table: z.number().int().min(1).max(0xffff_ffff).default(7200),
    /** The routing daemon runs as this user. */
    user: z
      .string()
      .regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'is not the name of a user')
      .default('bird'),
  }).prefault({}),
  /** What one tenant network may use of this node, for its clients and again for its members. The rest is dropped. */
  shares: section({
    /** Packets in a second for each processor of the node. */
    packetsPerProcessor: z.number().int().min(1_000).max(100_000_000).default(DEFAULT_SHARES.packetsPerProcessor),
    /** New connections by TCP per second, for each processor of the node; half as many by UDP and SCTP. */
    newFlowsPerProcessor: z.number().int().min(10).max(10_000_000).default(DEFAULT_SHARES.newFlowsPerProcessor),
    /** The kernel counts no more than 16,000. */
    megabytesPerSecond: z.number().int().min(1).max(16_000).default(DEFAULT_SHARES.megabytesPerSecond),
  }).prefault({}),
  /** Limits of health checks: concurrent probes, and probes per second. */
  checks: section({
    /** Concurrent probes of all projects, besides each project's own share. */
    most: z.number().int().min(1).max(100_000).default(512),
    /** Concurrent probes of one project, its own share included. */
    mostOfProject: z.number().int().min(1).max(100_000).default(256),
    /** Concurrent probes that each project has, whatever the others do. */
    ownShare: z.number().int().min(1).max(10_000).default(32),
    /** Probes per second of one project. */
    perSecond: z.number().int().min(1).max(1_000_000).default(2_000),
    /** Probes per second to one address and port, by all pools and monitors. */
    perSecondOfTarget: z.number().int().min(1).max(10_000).default(50),
  })
    .refine(({ ownShare, mostOfProject }) => ownShare <= mostOfProject, {
      path: ['ownShare'],
      error: 'is more than checks.mostOfProject, of which it is a part',
    })
    .prefault({}),
  metrics: section({
    /** `address:port` on which Prometheus reads this agent's metrics, without TLS; empty for none. */
    listen: z
      .string()
      .regex(/^(|([0-9.]+|\[[0-9a-fA-F:.]+\]):[1-9][0-9]{0,4})$/, 'is not like 127.0.0.1:9132 or [::1]:9132')
      .default(''),
    /** A file with the token that metrics require; empty requires none. */
    tokenFile: z.string().default(''),
  })
    .refine(({ listen, tokenFile }) => listen === '' || isLoopback(listenAddress(listen).host) || tokenFile !== '', {
      path: ['tokenFile'],
      error: 'is not set, and metrics.listen is beyond loopback: metrics would be readable by everybody who reaches it',
    })
    .prefault({}),
  log: section({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  }).prefault({}),
})
export type AgentConfig = z.output<typeof agentConfig>
