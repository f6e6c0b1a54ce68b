import type { Admission, ModelView } from '@spout/admission/contract'
import type { Clock } from '@spout/runtime'
import type { Authenticator } from '../authn/authenticator.ts'
import type { CredentialMaker } from '../authn/credential-maker.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { RoundTurns } from '../turns/round-turns.ts'
import type { CatalogService } from './catalog.ts'

/** The dependencies of the identity facade. */
export interface IdentityContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticator: Authenticator
  readonly clock: Clock
  readonly baseUrl: BaseUrl
  readonly region: string
  readonly services: readonly CatalogService[]
  readonly credentials: CredentialMaker
  /** Schedules the pieces of long lists. */
  readonly turns: RoundTurns
}
