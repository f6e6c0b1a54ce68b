import { HOST_RULES } from '@spout/admission'
import { DEFAULT_POLICY_SET, POLICY_SET_NAMES } from '@spout/intent-octavia'
import {
  ANNOUNCER_NAMES,
  CONFIGURED_ANNOUNCERS,
  DEFAULT_ANNOUNCER,
  dnsTtlSeconds,
  requiredSettings,
} from '@spout/model'
import { parseCidr } from '@spout/net'
import { secret } from '@spout/runtime/config'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { dnsZone } from './dns-zones.ts'
import { resolverAddress } from './resolver-address.ts'

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

/** Whether a URL leads to another machine without TLS. */
const isPlain = (url: string): boolean => url.startsWith('http:') && !isLoopback(new URL(url).hostname)

const requiredSettingsShape = Object.fromEntries(
  CONFIGURED_ANNOUNCERS.flatMap(({ settings }) => requiredSettings(settings)).map(({ field, schema }) => [
    field,
    schema.nullable().default(null),
  ]),
)

/** Every setting of the control plane with its default. `docs/configuration.md` explains them. */
export const controlPlaneConfig = z.strictObject({
  /** Holds everything that must survive: the database, the certificate authority. */
  stateDirectory: z.string().min(1).default('/var/lib/spout'),
  api: section({
    host: z.string().default('127.0.0.1'),
    port: tcpPort.default(9130),
    /** The URL that clients see in catalogs and links; empty: made from host and port. */
    publicUrl: z.string().default(''),
    /** How long an answer of the Octavia API waits for the nodes, so that clients find their object ACTIVE at once. */
    settleMs: z.number().int().min(0).max(10_000).default(400),
    /**
     * Serves HTTPS with the certificate of `certificateFile`, else with one of the agent link's authority for
     * `agentLink.names`.
     */
    tls: z.boolean().default(false),
    /** PEM: the server's certificate, then its chain. It is read again every few seconds. */
    certificateFile: z.string().default(''),
    /** PEM: the certificate's key. */
    keyFile: z.string().default(''),
    /** Allows HTTP beyond loopback, for a proxy on another machine that does TLS over a network of its own. */
    plainBeyondLoopback: z.boolean().default(false),
    /** Prefixes of the proxies in front of the API, which are trusted to name the client's address. */
    trustedProxies: z.array(prefix).max(64).default([]),
    /** How they name it. Only one way is read, because a client itself may send what its proxy does not set. */
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
  /**
   * Limits of the API for one project, for one address, and for all together. Requests beyond them get 429 with
   * Retry-After.
   */
  limits: section({
    /** Requests of a project, over all surfaces. Every 16 KiB sent or received count as one more. */
    requestsPerSecond: z.number().int().min(10).max(1_000_000).default(1000),
    /** How many requests a project that was idle may send at once. */
    requestBurst: z.number().int().min(10).max(10_000_000).default(5000),
    /** Requests without a token, including logins, from one IPv4 address or IPv6 /64. */
    strangerRequestsPerSecond: z.number().int().min(1).max(1_000_000).default(50),
    /** Watches that a project may have open. */
    watches: z.number().int().min(1).max(100_000).default(128),
    /** Connections in total, and from one IPv4 address or IPv6 /64. */
    connections: z.number().int().min(16).max(1_000_000).default(8192),
    connectionsOfAddress: z.number().int().min(4).max(1_000_000).default(4096),
  }).prefault({}),
  /** The operator's endpoints, apart from the API that tenants reach. */
  status: section({
    host: z.string().default('127.0.0.1'),
    /** `/healthz`, `/readyz` and `/metrics`. */
    port: tcpPort.default(9134),
    /** File with the token that protects `/metrics` and the reasons of `/readyz`; empty asks for none. */
    tokenFile: z.string().default(''),
  })
    .refine(({ host, tokenFile }) => isLoopback(host) || tokenFile !== '', {
      path: ['tokenFile'],
      error: 'is not set, and status.host is beyond loopback: metrics would be readable by everybody who reaches it',
    })
    .prefault({}),
  agentLink: section({
    host: z.string().default('0.0.0.0'),
    port: tcpPort.default(9131),
    /** Names and addresses that agents connect to. The server's certificate is issued for them. */
    names: z.array(z.string().min(1).max(253)).min(1).default(['localhost', '127.0.0.1']),
  }).prefault({}),
  store: section({
    engine: z.enum(['sqlite', 'memory']).default('sqlite'),
  }).prefault({}),
  admin: section({
    user: z.string().min(1).max(64).default('admin'),
    /**
     * Set at every start when given. Without it the first start generates one and writes it to
     * `<stateDirectory>/admin-password`.
     */
    password: secret.optional(),
    project: z.string().min(1).max(64).default('admin'),
  }).prefault({}),
  liveness: section({
    /** A node that has not reported for this long is shown as disconnected. It keeps forwarding. */
    disconnectedAfterMs: z.number().int().min(200).max(3_600_000).default(3000),
    /** After this long its addresses move to another node. */
    moveAfterMs: z.number().int().min(500).max(3_600_000).default(5000),
  }).prefault({}),
  octavia: section({
    /**
     * For tools that are tested against this API: any UUID is a network, subnet or certificate, no node carries
     * anything, and statuses are those of Octavia's noop driver.
     */
    noop: z.boolean().default(false),
    /**
     * As in Octavia, a load balancer is not changed (409) before the nodes have confirmed its last change. Otherwise
     * changes are applied in order, however fast they come.
     */
    strictLocking: z.boolean().default(false),
    /** The roles that may perform each operation: one of Octavia's policy sets. */
    policySet: z.enum(POLICY_SET_NAMES).default(DEFAULT_POLICY_SET),
  }).prefault({}),
  /** A real Keystone, whose tokens are accepted beside those of our own users. */
  keystone: section({
    /** Such as `https://keystone.example:5000/v3`; empty: no Keystone. */
    url: z
      .string()
      .refine((url) => url === '' || /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'is not an http or https URL')
      .default('')
      .transform((url) => (url === '' ? url : `${url.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`)),
    /** PEM: the authorities that its certificate may be from. Empty: those of the system. */
    caFile: z.string().default(''),
    /** Allows HTTP to a Keystone on another machine. */
    plainBeyondLoopback: z.boolean().default(false),
    /** Spout's own user there, which asks whose tokens are. It needs the role `service` or `admin` in its project. */
    user: z.string().min(1).max(255).default('spout'),
    userDomain: z.string().min(1).max(64).default('Default'),
    password: secret.optional(),
    project: z.string().min(1).max(64).default('service'),
    projectDomain: z.string().min(1).max(64).default('Default'),
    /** Or an application credential of that user. */
    applicationCredentialId: z.string().max(255).default(''),
    applicationCredentialSecret: secret.optional(),
    /** How long an answer about a token counts. A revoked token works for as long at most; 0: each request asks. */
    cacheSeconds: z.number().int().min(0).max(3600).default(60),
    /** How long a token stays valid after its last confirmation while Keystone does not answer. */
    outageSeconds: z.number().int().min(0).max(86_400).default(3600),
    timeoutMs: z.number().int().min(100).max(60_000).default(5000),
    /** Whether a project of Keystone becomes one here, with its id, when it is first used. */
    createProjects: z.boolean().default(true),
    /** Projects of Keystone that are one of ours instead. */
    projects: z
      .array(section({ id: z.string().min(1).max(64), project: z.string().min(1).max(64) }))
      .max(1000)
      .default([]),
  })
    .refine(({ url, plainBeyondLoopback }) => !isPlain(url) || plainBeyondLoopback, {
      path: ['url'],
      error:
        'is plain HTTP to another machine: tokens and the password would be readable on the way; use https, or set keystone.plainBeyondLoopback',
    })
    .refine(
      ({ url, password, applicationCredentialId: id }) => url === '' || (password === undefined) === (id !== ''),
      {
        path: ['password'],
        error: 'or keystone.applicationCredentialId is needed with keystone.url, and not both',
      },
    )
    .refine(
      ({ applicationCredentialId: id, applicationCredentialSecret: key }) => (id === '') === (key === undefined),
      {
        path: ['applicationCredentialSecret'],
        error: 'and keystone.applicationCredentialId belong together: set both or none',
      },
    )
    .prefault({}),
  network: section({
    /** The physical network of a tenant's new network when its creator names none. */
    defaultPhysicalNetwork: z.string().default('tenant'),
    /** VLANs assigned on it, one per network; null leaves all networks untagged. */
    vlans: section({ first: z.number().int().min(1).max(4094), last: z.number().int().min(1).max(4094) })
      .nullable()
      .default(null),
    defaultReturnPath: z.enum(['gateway', 'snat', 'dsr']).default('snat'),
    /** Networks whose addresses no tenant may name: management, storage, the nodes themselves. */
    managementCidrs: z.array(z.string()).max(64).default([]),
    /** Networks of the nodes' own addresses; empty: a node's agent may claim any that is nobody else's. */
    fabricCidrs: z.array(z.string()).max(64).default([]),
  }).prefault({}),
  nodes: section({
    /** The announcer of the default group, which the first start creates. Later the group's own setting counts. */
    announcer: z.enum(ANNOUNCER_NAMES).default(DEFAULT_ANNOUNCER),
    /** The announcers' settings that have no default, for that group. */
    ...requiredSettingsShape,
  }).prefault({}),
  /** Domains of projects. */
  domains: section({
    /**
     * The hosts that routes of a project may name: `any`; `unclaimed`: all but those below the domain of another
     * project; `own`: only those below its own.
     */
    hosts: z.enum(HOST_RULES).default('unclaimed'),
    /** Resolvers that are asked for the records which prove domains, with ports if not 53. None: nobody proves any. */
    resolvers: z.array(resolverAddress).max(8).default([]),
    /** How often a proven domain is looked for again. */
    recheckSeconds: z.number().int().min(1).max(604_800).default(3600),
    /** How long a proven domain may miss its record before it is lost. */
    graceSeconds: z.number().int().min(0).max(7_776_000).default(259_200),
    /** Checks of one project, those that the tenant asks for included. */
    checksPerMinute: z.number().int().min(1).max(6000).default(30),
  }).prefault({}),
  /** The cluster that this control plane runs in. */
  kubernetes: section({
    /** Whether service accounts of the cluster are accepted. */
    enabled: z.boolean().default(false),
    /** The audience that their tokens must have. */
    audience: z.string().min(1).max(253).default('spout.dev'),
    /** The accounts: each has this role in this project, nothing else. */
    accounts: z
      .array(section({ account, role: z.enum(['admin', 'balancer', 'reader']), project: z.string().min(1).max(64) }))
      .max(64)
      .default([]),
    /** The agents' account. Each may enrol the node that its pod runs on, and no other. */
    agents: account.or(z.literal('')).default(''),
    /** The group that new nodes join. */
    nodeGroup: z.string().min(1).max(64).default('default'),
    /** An existing ConfigMap whose `ca.crt` is kept equal to the agent link's authority. */
    authorityConfigMap: account.or(z.literal('')).default(''),
    /** The network of the pods, created at the first start for this project. */
    network: section({
      project: z.string().min(1).max(64),
      name: z.string().min(1).max(64).default('pods'),
      /** The name that the agents list in `hostSegments`. */
      physicalNetwork: z.string().min(1).max(32).default('cluster'),
      /** Prefixes for the link between a node and its domain, one per family. They never appear on a wire. */
      links: z
        .array(section({ cidr: z.string().max(49), router: z.string().max(45) }))
        .min(1)
        .max(2),
    })
      .nullable()
      .default(null),
  }).prefault({}),
  /** Tenants' certificates. */
  certificates: section({
    /**
     * The keys that private keys are sealed with in the store, 64 hexadecimal digits each, separated by commas or white
     * space. The first seals, all open.
     */
    sealingKeys: secret.optional(),
    /** A file with them. Empty: `<stateDirectory>/sealing-keys`, which the first start makes. */
    sealingKeysFile: z.string().default(''),
  })
    .refine(({ sealingKeys, sealingKeysFile }) => sealingKeys === undefined || sealingKeysFile === '', {
      path: ['sealingKeysFile'],
      error: 'and certificates.sealingKeys exclude each other: set one of them',
    })
    .prefault({}),
  /** Names of load balancers, published by dynamic update. */
  dns: section({
    zones: z
      .array(dnsZone)
      .max(100)
      .refine((zones) => new Set(zones.map(({ name }) => name)).size === zones.length, 'names a zone twice')
      .default([]),
    /**
     * The name of this control plane in ownership records. Each control plane that publishes into a zone needs another
     * one.
     */
    owner: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,63}$/, 'is not 1 to 63 letters, digits, dots, hyphens and underscores')
      .default('spout'),
    /** How long resolvers may keep an answer, where the load balancer does not say. */
    ttlSeconds: dnsTtlSeconds.default(300),
    /** How often each zone is looked through for what should not be there, or is missing. */
    sweepSeconds: z.number().int().min(1).max(86_400).default(600),
  }).prefault({}),
  tokens: section({
    lifetimeSeconds: z.number().int().min(60).max(2_592_000).default(28_800),
    /** Tokens of one user by password, and of each application credential. Issuing one more deletes the oldest. */
    perGrant: z.number().int().min(1).max(100_000).default(250),
    /** Most tokens of one user. Beyond them the oldest token of the grant with the most tokens is deleted. */
    perUser: z.number().int().min(1).max(1_000_000).default(1000),
    /** Application credentials of one user. */
    credentialsPerUser: z.number().int().min(0).max(10_000).default(100),
  }).prefault({}),
  /** Records who did what, as JSON lines in the state directory. */
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
