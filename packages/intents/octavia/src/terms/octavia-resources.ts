import type { HealthMonitor, HttpRoute, Listener, Member, Pool } from '@spout/model'
import type {
  ListenerProtocol,
  MonitorType,
  PersistenceType,
  PolicyAction,
  PoolProtocol,
  RuleCompare,
  RuleType,
} from './words.ts'

/**
 * The children of a load balancer as Octavia's API shows them: the model's objects, with the fields that only Octavia
 * has. Requests edit these; `foldGraph` turns them back into the model.
 */
export interface OctaviaListener {
  readonly model: Listener
  readonly protocol: ListenerProtocol
  /** `insert_headers` as sent, including "false" ones, which the model does not keep. */
  readonly insertHeaders: ReadonlyMap<string, string>
  readonly tls: OctaviaTls
  /** By position. */
  readonly policies: readonly OctaviaPolicy[]
}

/** An L7 policy. It becomes a route of the model. */
export interface OctaviaPolicy {
  readonly model: Omit<HttpRoute, 'conditions' | 'action'>
  readonly action: PolicyAction
  readonly redirectPoolId: string | null
  readonly redirectUrl: string | null
  readonly redirectPrefix: string | null
  readonly redirectHttpCode: number | null
  readonly rules: readonly OctaviaRule[]
}

/** All enabled rules of a policy must hold. */
export interface OctaviaRule {
  readonly model: Omit<HttpRoute, 'name' | 'description' | 'conditions' | 'action'>
  readonly type: RuleType
  readonly compare: RuleCompare
  readonly key: string | null
  readonly value: string
  readonly invert: boolean
}

/** How a listener terminates TLS. */
export interface OctaviaTls {
  readonly defaultRef: string | null
  readonly sniRefs: readonly string[]
  /** Null: the default. */
  readonly versions: readonly string[] | null
  /** OpenSSL's names, separated by colons. Null: the default. */
  readonly ciphers: string | null
  /** Null: the default. */
  readonly alpn: readonly string[] | null
  readonly clientAuthentication: 'NONE' | 'OPTIONAL' | 'MANDATORY'
  /** The authorities that sign clients' certificates. */
  readonly clientCaRef: string | null
  /** The lists of what these authorities revoked. */
  readonly clientCrlRef: string | null
  /** Null: off. */
  readonly hstsMaxAge: number | null
  readonly hstsSubdomains: boolean
  readonly hstsPreload: boolean
}

export interface OctaviaPool {
  readonly model: Pool
  readonly protocol: PoolProtocol
  readonly tls: OctaviaPoolTls
  readonly persistence: OctaviaPersistence | null
  readonly monitor: OctaviaMonitor | null
}

/** TLS between load balancer and members. */
export interface OctaviaPoolTls {
  readonly enabled: boolean
  /** The client certificate that is sent to members. */
  readonly certificateRef: string | null
  /** The authorities that sign members' certificates. Null: any certificate is accepted. */
  readonly caRef: string | null
  /** The lists of what these authorities revoked. */
  readonly crlRef: string | null
  /** Null: the default. */
  readonly versions: readonly string[] | null
  /** OpenSSL's names, separated by colons. Null: the default. */
  readonly ciphers: string | null
  /** Null: the default. */
  readonly alpn: readonly string[] | null
}

export interface OctaviaPersistence {
  /** Null in an update that does not change it. */
  readonly type: PersistenceType | null
  readonly cookieName: string | null
  readonly timeoutSeconds: number | null
  readonly granularity: string | null
}

export interface OctaviaMember {
  readonly model: Member
}

/** A health monitor. HTTP fields that were not sent are null. */
export interface OctaviaMonitor {
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
  readonly listeners: readonly OctaviaListener[]
  readonly pools: readonly OctaviaPool[]
}
