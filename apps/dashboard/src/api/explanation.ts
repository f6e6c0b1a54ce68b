import type {
  ClusterObject,
  DnsNameStatus,
  HttpRoute,
  ListenerProtocol,
  NodeConfirmation,
  NodeConnection,
  Pool,
  ServiceStats,
  Serving,
  StatusNotice,
} from '@spout/model'

/** `GET /load-balancers/{id}/explain`: the path of a connection, each step with its state and the reason for it. */
export interface LoadBalancerExplanation {
  readonly loadBalancer: {
    readonly id: string
    readonly name: string
    readonly projectId: string
    readonly enabled: boolean
  }
  /** The objects of a Kubernetes cluster that it was made for. */
  readonly madeFor: readonly ClusterObject[]
  readonly state: {
    readonly provisioning: 'pending' | 'active' | 'error'
    readonly reason: string
    readonly message: string
  }
  readonly serving: Serving
  readonly notice?: StatusNotice
  readonly owner: { readonly id: string; readonly name: string | null; readonly connection: NodeConnection } | null
  readonly ownerReason: { readonly code: string; readonly message: string }
  readonly vips: readonly ExplainedVip[]
  readonly dns: readonly DnsNameStatus[]
  readonly returnPath: string | null
  readonly connections: string | null
  readonly listeners: readonly ExplainedListener[]
  readonly pools: readonly ExplainedPool[]
  readonly nodes: readonly NodeConfirmation[]
  readonly lastChange: {
    readonly generation: number
    readonly at: string
    readonly confirmedGeneration: number
    readonly confirmedAt: string | null
  }
}

export interface ExplainedVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** Names of nodes. */
  readonly announcedBy: readonly string[]
  readonly pool: { readonly id: string; readonly name: string; readonly draining: boolean } | null
}

export interface ExplainedListener {
  readonly id: string
  readonly name: string
  readonly protocol: ListenerProtocol
  readonly port: number
  readonly poolId: string | null
  readonly allowedCidrs: readonly string[] | null
  readonly answers: boolean
  /** Why it does not answer; null when it does. */
  readonly why: string | null
  readonly stats: ServiceStats | null
  readonly routes: readonly ExplainedRoute[]
}

export interface ExplainedRoute extends Pick<HttpRoute, 'id' | 'name' | 'enabled' | 'conditions' | 'action'> {
  /** Whether earlier routes leave it a request. */
  readonly reached: boolean
}

export interface ExplainedPool extends Pick<Pool, 'id' | 'name' | 'protocol' | 'algorithm' | 'enabled'> {
  readonly monitored: boolean
  /** Too few members are up, so health is ignored. */
  readonly panic: boolean
  readonly refusedPercent: number
  readonly members: readonly ExplainedMember[]
}

export interface ExplainedMember {
  readonly id: string
  readonly name: string
  readonly address: string
  readonly port: number
  readonly weight: number
  readonly health: 'up' | 'down' | 'unknown' | 'unmonitored'
  readonly reason: string | null
  readonly since: string | null
  readonly takesTraffic: boolean
  /** Why it gets no new connections; null when it does. */
  readonly why: string | null
}
