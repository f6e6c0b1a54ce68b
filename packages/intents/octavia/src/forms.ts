import type { HealthMonitor, Listener, Member, Pool } from '@spout/model'
import type { ListenerProtocol, MonitorType, PersistenceType, PoolProtocol } from './words.ts'

/**
 * The children of a load balancer as Octavia sees them: the model's object with what only Octavia's words can say.
 * Requests edit forms; `foldGraph` turns them back into the model.
 */
export interface ListenerForm {
  readonly model: Listener
  readonly protocol: ListenerProtocol
  /** `insert_headers` as asked, "false" ones too, which the model does not keep. */
  readonly insertHeaders: ReadonlyMap<string, string>
}

export interface PoolForm {
  readonly model: Pool
  readonly protocol: PoolProtocol
  readonly persistence: PersistenceForm | null
  readonly monitor: MonitorForm | null
}

export interface PersistenceForm {
  /** Null in an update that leaves it as it is. */
  readonly type: PersistenceType | null
  readonly cookieName: string | null
  readonly timeoutSeconds: number | null
  readonly granularity: string | null
}

export interface MemberForm {
  readonly model: Member
}

/** The HTTP fields are null when they were not asked for; the others are the model's. */
export interface MonitorForm {
  readonly model: Omit<HealthMonitor, 'type' | 'http' | 'intervalMs' | 'timeoutMs'>
  readonly type: MonitorType
  readonly delaySeconds: number
  readonly timeoutSeconds: number
  readonly httpMethod: string | null
  readonly urlPath: string | null
  /** Octavia's text: `200`, `200,202` or `200-204`. */
  readonly expectedCodes: string | null
  readonly httpVersion: number | null
  readonly domainName: string | null
}

/** Everything below a load balancer. */
export interface Graph {
  readonly listeners: readonly ListenerForm[]
  readonly pools: readonly PoolForm[]
}
