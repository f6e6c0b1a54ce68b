import type { Admission, LoadBalancerAdmission, ModelView } from '@spout/admission/contract'
import type {
  DnsReader,
  DomainChecks,
  DrainForecaster,
  FiguresReader,
  Network,
  OwnershipReader,
  PlanForecaster,
  StatusReader,
  WithdrawalReader,
} from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { Store } from '@spout/store'
import type { AuditPage, AuditQuery } from '../../audit/audit-reader.ts'
import type { Authenticator } from '../../authn/authenticator.ts'
import type { CredentialMaker } from '../../authn/credential-maker.ts'
import type { ForeignTokens } from '../../authn/foreign-session.ts'
import type { OpenStreams } from '../../limits/open-streams.ts'
import type { OpenIdLogins } from '../../openid/openid-logins.ts'
import type { RoundTurns } from '../../turns/round-turns.ts'
import type { LiveChanges } from '../live/live-changes.ts'
import type { LoadBalancerRows } from '../live/load-balancer-rows.ts'
import type { SeenConnectors } from './seen-connectors.ts'

/** The dependencies of the native API. */
export interface NativeContext {
  readonly admission: Admission
  /** Writes of load balancers. In a dry run they store nothing. */
  readonly loadBalancers: LoadBalancerAdmission
  readonly view: ModelView
  readonly store: Store
  readonly status: StatusReader
  readonly ownership: OwnershipReader
  readonly plans: PlanForecaster & DrainForecaster
  readonly figures: FiguresReader
  readonly withdrawals: WithdrawalReader
  readonly dns: DnsReader
  readonly domains: DomainChecks
  readonly authenticator: Authenticator
  readonly credentials: CredentialMaker
  readonly audit: { read(query: AuditQuery): Promise<AuditPage> }
  readonly clock: Clock
  /** Open watches. */
  readonly streams: OpenStreams
  /** Schedules the pieces of long answers, in fair turns of projects. */
  readonly turns: RoundTurns
  /** The part of an enrolment token that pins the link's authority (`CertificateAuthority.pin`). */
  readonly linkPin: string
  /** Defaults of a new network. */
  readonly networkDefaults: NetworkDefaults
  /** Names of physical networks that are the nodes themselves: members of their networks see each node. */
  readonly hostSegments: readonly string[]
  /** Whether this control plane leads. */
  readonly leads: () => boolean
  /** The connectors that called. */
  readonly connectors: SeenConnectors
  /** What the web page is told before anything else. */
  readonly page: PageContext
  readonly rows: LoadBalancerRows
  /** What open pages follow. */
  readonly live: LiveChanges
  /** Aborts when the server closes, which ends all streams. */
  readonly closing: AbortSignal
}

export interface PageContext {
  /** Where browsers reach the API; null: where they found the page. */
  readonly publicUrl: string | null
  /** Tokens of another identity service; null: there is none. */
  readonly foreign: ForeignTokens | null
  /** Logins by an OpenID Connect provider; null: there is none. */
  readonly oidc: OpenIdLogins | null
}

export interface NetworkDefaults {
  readonly returnPath: Network['returnPath']
  /** Chooses the segment of a network whose creator named none. @throws SpoutError when none is left */
  segment(): Network['segment']
}
