import type { Admission, ModelView } from '@spout/admission/contract'
import type { LoadBalancer } from '@spout/model'
import type { Authenticate } from '../authn/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { RoundTurns } from '../limits/round-turns.ts'
import type { NetworkDefaults } from '../native/operations/context.ts'

/** The dependencies of the network facade. */
export interface NetworkContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticate: Authenticate
  readonly baseUrl: BaseUrl
  readonly networkDefaults: NetworkDefaults
  /** Whether any UUID is a network, a subnet and a port. */
  readonly anyId?: boolean
  /** Schedules the pieces of long lists. */
  readonly turns: RoundTurns
  /** Resolves when the nodes have confirmed this version of a load balancer, or when that takes too long to wait for. */
  readonly settle: (loadBalancer: LoadBalancer) => Promise<unknown>
}
