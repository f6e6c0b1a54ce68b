import { DEFAULT_POLICY_SET, POLICY_SET_NAMES } from '@spout/intent-octavia'
import { ANNOUNCER_NAMES, CONFIGURED_ANNOUNCERS, DEFAULT_ANNOUNCER, requiredSettings } from '@spout/model'
import { secret } from '@spout/runtime/config'
import { z } from 'zod'
import { apiSection, limitsSection, statusSection } from './config/api.ts'
import { dnsSection, domainsSection } from './config/domains.ts'
import { keystoneSection } from './config/keystone.ts'
import { kubernetesSection } from './config/kubernetes.ts'
import { oidcSection } from './config/oidc.ts'
import { peersSection } from './config/peers.ts'
import { section, tcpPort } from './config/section.ts'
import { storeSection } from './config/store.ts'

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
  api: apiSection,
  ui: section({
    /** Serves the web page at `/ui/` of the API. */
    enabled: z.boolean().default(true),
    /** Directory of the built page. Empty: that of the installation. */
    directory: z.string().default(''),
  }).prefault({}),
  limits: limitsSection,
  status: statusSection,
  agentLink: section({
    host: z.string().default('0.0.0.0'),
    port: tcpPort.default(9131),
    /** Names and addresses that agents connect to. The server's certificate is issued for them. */
    names: z.array(z.string().min(1).max(253)).min(1).default(['localhost', '127.0.0.1']),
  }).prefault({}),
  store: storeSection,
  peers: peersSection,
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
  keystone: keystoneSection,
  oidc: oidcSection,
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
  domains: domainsSection,
  kubernetes: kubernetesSection,
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
  dns: dnsSection,
  tokens: section({
    lifetimeSeconds: z.number().int().min(60).max(2_592_000).default(28_800),
    /** Tokens of one user by password, and of each application credential. Issuing one more deletes the oldest. */
    perGrant: z.number().int().min(1).max(100_000).default(250),
    /** Most tokens of one user. Beyond them the oldest token of the grant with the most tokens is deleted. */
    perUser: z.number().int().min(1).max(1_000_000).default(1000),
    /** Application credentials of one user. */
    credentialsPerUser: z.number().int().min(0).max(10_000).default(100),
  }).prefault({}),
  /** The history of figures that the API shows, in memory. */
  figures: section({
    /** 0: none. */
    megabytes: z.number().int().min(0).max(4096).default(64),
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
