import { randomUUID } from 'node:crypto'
import { DEFAULT_PROVIDERS, octaviaApi, settleWithin } from '@spout/intent-octavia'
import type { Clock } from '@spout/runtime'
import {
  type AuditLog,
  type Authenticator,
  answerInPieces,
  authenticateBy,
  baseUrl,
  CredentialMaker,
  certificateOf,
  type createServer,
  type ForeignTokens,
  frontDoor,
  healthApi,
  identityApi,
  keyManagerApi,
  mount,
  nativeApi,
  networkApi,
  noteError,
  OPENSTACK_BODY_LIMIT_BYTES,
  type OpenIdLogins,
  pageSurface,
  readPage,
  SERVICES,
  type SurfaceReads,
  segmentChooser,
  turnsOfLongBodies,
} from '@spout/server'
import { hostSegmentsOf } from './cluster/pod-network.ts'
import type { ControlPlaneConfig } from './config.ts'
import type { LeaderPart } from './leader-part.ts'
import type { Limits } from './limits.ts'
import type { ModelStore } from './model-store.ts'
import { pageDirectory } from './page-directory.ts'

export interface SurfaceParts {
  readonly model: ModelStore
  readonly part: LeaderPart
  readonly authenticator: Authenticator
  readonly audit: AuditLog
  readonly limits: Limits
  readonly clock: Clock
  /** Pin of the agent link's authority, for enrolling nodes. */
  readonly linkPin: string
  /** Tokens of a Keystone of its own; null: there is none. */
  readonly foreign: ForeignTokens | null
  /** Logins by a provider of OpenID Connect; null: there is none. */
  readonly oidc: OpenIdLogins | null
}

/** Mounts every API of the control plane on its server. */
export function mountSurfaces(
  app: ReturnType<typeof createServer>,
  config: ControlPlaneConfig,
  {
    model: { store, view, admission },
    part,
    authenticator,
    audit,
    limits,
    clock,
    linkPin,
    foreign,
    oidc,
  }: SurfaceParts,
): void {
  const { status, dnsNames, domains, plans } = part
  const authenticate = authenticateBy(authenticator)
  const publicUrl = config.api.publicUrl === '' ? null : config.api.publicUrl
  const base = baseUrl(publicUrl)
  const networkDefaults = {
    returnPath: config.network.defaultReturnPath,
    segment: segmentChooser(
      view,
      { physicalNetwork: config.network.defaultPhysicalNetwork, vlans: config.network.vlans },
      () => clock.now().getTime(),
    ),
  }
  const credentials = new CredentialMaker({
    ...{ admission, view, authenticator, clock },
    perUser: config.tokens.credentialsPerUser,
  })
  const native = nativeApi({
    ...{ admission, view, store, status, ownership: status, figures: status },
    withdrawals: status.withdrawals,
    ...{ dns: dnsNames, domains, plans, leads: () => part.leads },
    ...{ authenticator, credentials, audit, clock, linkPin, networkDefaults },
    ...{ streams: limits.streams, turns: limits.turns, hostSegments: hostSegmentsOf(config) },
    page: { publicUrl, foreign, oidc },
  })
  const identity = identityApi({
    ...{ admission, view, authenticator, credentials, clock, baseUrl: base, region: 'RegionOne', services: SERVICES },
    turns: limits.turns,
  })
  const network = networkApi({
    ...{ admission, view, authenticate, baseUrl: base, networkDefaults, turns: limits.turns },
    anyId: config.octavia.noop,
    settle: settleWithin(status, config.api.settleMs),
  })
  const keyManager = keyManagerApi({ admission, view, authenticate, baseUrl: base, clock })
  const octavia = {
    ...{ admission, view, status, ownership: status, authenticate, noteError, clock, newId: randomUUID },
    certificateOf: certificateOf({ admission, view, clock }),
    send: answerInPieces(limits.turns),
    turnsOf: turnsOfLongBodies(limits.turns),
    onReads: (reads: SurfaceReads) => limits.known.offer(reads),
    options: {
      ...{ providers: DEFAULT_PROVIDERS, publicUrl, identityPath: '/identity/v3', settleMs: config.api.settleMs },
      noop: config.octavia.noop,
      policySet: config.octavia.policySet,
      strictLocking: config.octavia.strictLocking,
    },
  }
  mount(app, healthApi())
  if (config.ui.enabled) {
    const page = readPage(pageDirectory(config.ui.directory, process.argv[1] ?? ''))
    for (const surface of [frontDoor(page), pageSurface(page)]) mount(app, surface, limits.gate)
  }
  for (const surface of [native, identity, network, keyManager]) mount(app, surface, limits.gate)
  mount(
    app,
    {
      prefix: '/load-balancer',
      bodyLimitBytes: OPENSTACK_BODY_LIMIT_BYTES,
      open: [''],
      plugin: (scope) => octaviaApi(scope, octavia),
    },
    limits.gate,
  )
}
