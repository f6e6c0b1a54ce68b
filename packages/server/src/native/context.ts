import type { Admission, ModelView } from '@spout/admission/contract'
import type { Network, OwnershipReader, StatusReader, WithdrawalReader } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { Store } from '@spout/store'
import type { AuditPage, AuditQuery } from '../audit/audit-reader.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import type { OpenStreams } from '../limits/open-streams.ts'
import type { RoundTurns } from '../limits/round-turns.ts'

/** What the native API stands on. */
export interface NativeContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly store: Store
  readonly status: StatusReader
  readonly ownership: OwnershipReader
  readonly withdrawals: WithdrawalReader
  readonly authenticator: Authenticator
  readonly audit: { read(query: AuditQuery): Promise<AuditPage> }
  readonly clock: Clock
  /** Watches that are open. */
  readonly streams: OpenStreams
  /** Pieces of answers that take long to make, each project's in turn. */
  readonly turns: RoundTurns
  /** The half of an enrolment token that pins the link's authority (`CertificateAuthority.pin`). */
  readonly linkPin: string
  /** What a new network gets where its maker says nothing. */
  readonly networkDefaults: NetworkDefaults
  /** Ends when the server closes: streams end with it. */
  readonly closing: AbortSignal
}

export interface NetworkDefaults {
  readonly returnPath: Network['returnPath']
  /** Chooses the segment of a network whose maker named none. @throws SpoutError when none is left */
  segment(): Network['segment']
}
