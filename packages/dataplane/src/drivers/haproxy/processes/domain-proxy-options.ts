import type { MetricsOf } from '../requests/metrics-socket.ts'
import type { OnRequest, ToldRequestsOptions } from '../requests/told-requests.ts'
import type { SlotUpkeepOptions } from './slot-upkeep.ts'

export interface DomainProxyOptions extends SlotUpkeepOptions {
  /** The stop of an earlier proxy of the same place. */
  readonly after?: Promise<void>
  /** Figures of load balancers, by a listener that answers with them. Default: none has. */
  readonly metricsOf?: MetricsOf
  /** Called with each finished request of listeners that log. Default: requests are not read. */
  readonly onRequest?: OnRequest
  readonly countLines: ToldRequestsOptions['count']
}
