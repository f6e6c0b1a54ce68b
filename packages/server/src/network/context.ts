import type { Admission, ModelView } from '@spout/admission/contract'
import type { LoadBalancer } from '@spout/model'
import type { Authenticate } from '../authn/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { NetworkDefaults } from '../native/operations/context.ts'
import type { RoundTurns } from '../turns/round-turns.ts'

/** The dependencies of the network facade. */
export interface NetworkContext {
  readonly admission: Admission
  readonly view: ModelView
  readonly authenticate: Authenticate
  readonly baseUrl: BaseUrl
  readonly networkDefaults: NetworkDefaults
  /** Whether any UUID counts as a network, a subnet and a port (`withAnyId`). */
  readonly anyId?: boolean
  /** Schedules the pieces of long lists. */
  readonly turns: RoundTurns
  /**
   * Resolves when the nodes have confirmed this version of a load balancer, or when that takes too long to wait for.
   */
  readonly settle: (loadBalancer: LoadBalancer) => Promise<unknown>
}
