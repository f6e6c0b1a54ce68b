import type { Admission, ModelView } from '@spout/admission'
import type { Authenticate } from '../authn/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { NetworkDefaults } from '../native/context.ts'

/** What the network facade stands on. */
export interface NetworkContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticate: Authenticate
  readonly baseUrl: BaseUrl
  readonly networkDefaults: NetworkDefaults
}
