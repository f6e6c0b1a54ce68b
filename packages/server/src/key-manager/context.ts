import type { Admission, ModelView } from '@spout/admission/contract'
import type { Clock } from '@spout/runtime'
import type { Authenticate } from '../authn/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'

/** The dependencies of the key-manager facade. */
export interface KeyManagerContext {
  readonly admission: Pick<
    Admission,
    | 'createSecret'
    | 'setPayload'
    | 'deleteSecret'
    | 'openSecret'
    | 'createSecretContainer'
    | 'changeSecretContainer'
    | 'deleteSecretContainer'
    | 'quotaOf'
  >
  readonly view: ModelView
  readonly authenticate: Authenticate
  readonly baseUrl: BaseUrl
  readonly clock: Clock
}
