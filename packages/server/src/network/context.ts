import type { Admission, ModelView } from '@spout/admission/contract'
import type { Authenticate } from '../authn/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { RoundTurns } from '../limits/round-turns.ts'
import type { NetworkDefaults } from '../native/context.ts'

/** What the network facade stands on. */
export interface NetworkContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticate: Authenticate
  readonly baseUrl: BaseUrl
  readonly networkDefaults: NetworkDefaults
  /** Long lists have their pieces made in these. */
  readonly turns: RoundTurns
}
