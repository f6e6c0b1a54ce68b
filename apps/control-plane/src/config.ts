import { parseCidr } from '@spout/net'
import { secret } from '@spout/runtime/config'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'

const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
const account = z.string().regex(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/, 'is not like namespace/name')
const prefix = z.string().refine(isCidr, 'is not a prefix like 192.0.2.0/24')
const tcpPort = z.number().int().min(0).max(65535)

function isCidr(text: string): boolean {
  try {
    parseCidr(text)
    return true
  } catch {
    return false
  }
}

/** Every setting of the control plane with its default. `docs/configuration.md` explains them. */
export const controlPlaneConfig = z.strictObject({
  /** Where everything lives that must survive: the database, the certificate authority. */
  stateDirectory: z.string().min(1).default('/var/lib/spout'),
  api: section({
    host: z.string().default('127.0.0.1'),
    port: tcpPort.default(9130),
    /** What clients see in catalogs and links; made from host and port when empty. */
    publicUrl: z.string().default(''),
    /** How long a reply of the Octavia API waits for the nodes, so that clients find their object ACTIVE at once. */
    settleMs: z.number().int().min(0).max(10_000).default(400),
    /** HTTPS: with the certificate of `certificateFile`, else one of the agent link's own authority for `agentLink.names`. */
    tls: z.boolean().default(false),
    /** PEM, read again every few seconds: the server's certificate first, then those that lead to its authority. */
    certificateFile: z.string().default(''),
    /** PEM: its key. */
    keyFile: z.string().default(''),
    /** The operator's word that HTTP beyond loopback is meant: a proxy on another machine does TLS, over a network of its own. */
    plainBeyondLoopback: z.boolean().default(false),
    /** Proxies in front of the API, as prefixes: their word on who the client is counts. */
    trustedProxies: z.array(prefix).max(64).default([]),
    /** Where they say it. Only one place, because a client itself may send what its proxy does not set. */
    clientAddressFrom: z.enum(['x-forwarded-for', 'forwarded', 'proxy-protocol']).default('x-forwarded-for'),
  })
    .refine(({ host, tls, plainBeyondLoopback }) => isLoopback(host) || tls || plainBeyondLoopback, {
      path: ['tls'],
      error:
        'is false, and api.host is beyond loopback: passwords and tokens would be readable on the way; set api.tls, or api.plainBeyondLoopback where a proxy on another machine does TLS',
    })
    .refine(({ certificateFile, keyFile }) => (certificateFile === '') === (keyFile === ''), {
      path: ['keyFile'],
      error: 'and api.certificateFile belong together: set both or none',
    })
    .refine(({ certificateFile, tls }) => certificateFile === '' || tls, {
      path: ['tls'],
      error: 'is false, and api.certificateFile is set: nobody would see the certificate',
    })
    .prefault({}),
  /** What one project, one address or all together may use of the API. Over it: 429 with Retry-After. */
  limits: section({
    /** Requests of a project, of whatever surface; every 16 KiB that are sent or answered count as one more. */
    requestsPerSecond: z.number().int().min(10).max(1_000_000).default(1000),
    /** What a project that was quiet may ask at once. */
    requestBurst: z.number().int().min(10).max(10_000_000).default(5000),
    /** Requests without a token from one IPv4 address or IPv6 /64, logins among them. */
    strangerRequestsPerSecond: z.number().int().min(1).max(1_000_000).default(50),
    /** Watches that a project may have open. */
    watches: z.number().int().min(1).max(100_000).default(128),
    /** Connections of all, and of one IPv4 address or IPv6 /64. */
    connections: z.number().int().min(16).max(1_000_000).default(8192),
    connectionsOfAddress: z.number().int().min(4).max(1_000_000).default(4096),
  }).prefault({}),
  /** What an operator asks the process, apart from the API, which tenants reach. */
  status: section({
    host: z.string().default('127.0.0.1'),
    /** `/healthz`, `/readyz` and `/metrics`. */
    port: tcpPort.default(9134),
    /** A file with the token that `/metrics` and the reasons of `/readyz` are given for; empty asks for none. */
    tokenFile: z.string().default(''),
  })
    .refine(({ host, tokenFile }) => isLoopback(host) || tokenFile !== '', {
      path: ['tokenFile'],
      error: 'is not set, and status.host is beyond loopback: figures are not for everybody who reaches it',
    })
    .prefault({}),
  agentLink: section({
    host: z.string().default('0.0.0.0'),
    port: tcpPort.default(9131),
    /** Names and addresses that agents connect to: they stand in the server's certificate. */
    names: z.array(z.string().min(1).max(253)).min(1).default(['localhost', '127.0.0.1']),
  }).prefault({}),
  store: section({
    engine: z.enum(['sqlite', 'memory']).default('sqlite'),
  }).prefault({}),
  admin: section({
    user: z.string().min(1).max(64).default('admin'),
    /** Set at every start when given; without it a first start makes one up and writes it to `<stateDirectory>/admin-password`. */
    password: secret.optional(),
    project: z.string().min(1).max(64).default('admin'),
  }).prefault({}),
  liveness: section({
    /** A node that has not reported for this long is shown as disconnected. It keeps forwarding. */
    disconnectedAfterMs: z.number().int().min(200).max(3_600_000).default(3000),
    /** After this long its addresses move to another node. */
    moveAfterMs: z.number().int().min(500).max(3_600_000).default(5000),
  }).prefault({}),
  network: section({
    /** Where a tenant's new network is found on the nodes when its creator does not say. */
    defaultPhysicalNetwork: z.string().default('tenant'),
    /** VLANs handed out on it, one per network; null leaves all untagged on it. */
    vlans: section({ first: z.number().int().min(1).max(4094), last: z.number().int().min(1).max(4094) })
      .nullable()
      .default(null),
    defaultReturnPath: z.enum(['gateway', 'snat', 'dsr']).default('snat'),
    /** Networks no tenant may name an address of: management, storage, the nodes themselves. */
    managementCidrs: z.array(z.string()).max(64).default([]),
  }).prefault({}),
  nodes: section({
    /** How the nodes of the default group, which the first start makes, announce addresses. Later the group itself says. */
    announcer: z.enum(['l2', 'vrrp', 'bgp']).default('vrrp'),
    /** The AS of that group's nodes, where they announce by `bgp`. */
    localAs: z.number().int().min(1).max(4_294_967_294).nullable().default(null),
  }).prefault({}),
  /** The cluster that this control plane is a pod of. */
  kubernetes: section({
    /** Whether service accounts of the cluster are known here. */
    enabled: z.boolean().default(false),
    /** What their tokens must be meant for. */
    audience: z.string().min(1).max(253).default('spout.dev'),
    /** Who each of them is: this role on this project, nothing else. */
    accounts: z
      .array(section({ account, role: z.enum(['admin', 'balancer', 'reader']), project: z.string().min(1).max(64) }))
      .max(64)
      .default([]),
    /** The account of the agents, each of which enrols the node that its pod runs on, and no other. */
    agents: account.or(z.literal('')).default(''),
    /** The group that their nodes are in at first. */
    nodeGroup: z.string().min(1).max(64).default('default'),
    /** A ConfigMap that is there: its `ca.crt` is kept to be the agent link's authority. */
    authorityConfigMap: account.or(z.literal('')).default(''),
    /** The network of the pods, made at the first start for this project. */
    network: section({
      project: z.string().min(1).max(64),
      name: z.string().min(1).max(64).default('pods'),
      /** What the agents list in `hostSegments`. */
      physicalNetwork: z.string().min(1).max(32).default('cluster'),
      /** Between a node and its own domain, with the node's address there: never on a wire. One of a family. */
      links: z
        .array(section({ cidr: z.string().max(49), router: z.string().max(45) }))
        .min(1)
        .max(2),
    })
      .nullable()
      .default(null),
  }).prefault({}),
  tokens: section({
    lifetimeSeconds: z.number().int().min(60).max(2_592_000).default(28_800),
    /** Of one user by password, and of each application credential; the oldest goes when one more is issued. */
    perGrant: z.number().int().min(1).max(100_000).default(250),
    /** Application credentials of one user. */
    credentialsPerUser: z.number().int().min(0).max(10_000).default(100),
  }).prefault({}),
  /** Who did what, as JSON lines in the state directory. */
  audit: section({
    fileMegabytes: z.number().int().min(1).max(1024).default(16),
    /** How many files are kept. */
    files: z.number().int().min(2).max(1000).default(16),
  }).prefault({}),
  log: section({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  }).prefault({}),
})
export type ControlPlaneConfig = z.output<typeof controlPlaneConfig>
