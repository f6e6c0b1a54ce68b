/** The answer of `GET /load-balancers/{id}/explain`: the path of a connection, each step with its state and reason. */
export interface Explanation {
  readonly loadBalancer: {
    readonly id: string
    readonly name: string
    readonly projectId: string
    readonly enabled: boolean
  }
  readonly state: { readonly provisioning: string; readonly reason: string; readonly message: string }
  /** Left out by older control planes. */
  readonly notice?: { readonly reason: string; readonly message: string }
  readonly serving?: { readonly state: string; readonly message: string }
  readonly owner: { readonly id: string; readonly name: string | null; readonly connection: string } | null
  readonly ownerReason: { readonly code: string; readonly message: string }
  readonly vips: readonly {
    readonly address: string
    readonly scope: string
    readonly announcedBy: readonly string[]
    /** The address pool of the address. */
    readonly pool?: { readonly name: string; readonly draining: boolean } | null
  }[]
  /** The publication of its DNS names. Left out by older control planes. */
  readonly dns?: readonly { readonly name: string; readonly state: string; readonly message: string }[]
  readonly returnPath: string | null
  /** The process of its proxied listeners; null without. Left out by older control planes. */
  readonly proxy?: {
    readonly dedicated: boolean
    readonly className?: string | null
    readonly limits?: {
      readonly memoryMegabytes?: number
      readonly processors?: number
      readonly connections?: number
    }
    /** Larger requests are refused, in bytes. */
    readonly requestSizes?: { readonly headerBytes: number | null; readonly bodyBytes: number | null }
  } | null
  /** What happens to established connections when their node is gone. */
  readonly connections?: string | null
  readonly listeners: readonly ExplainedListener[]
  readonly pools: readonly ExplainedPool[]
  readonly nodes: readonly {
    readonly nodeName: string
    readonly connection: string
    readonly state: string
    readonly message: string | null
    readonly announced: readonly string[]
  }[]
  readonly lastChange: {
    readonly generation: number
    readonly at: string
    readonly confirmedGeneration: number
    readonly confirmedAt: string | null
  }
}

export interface ExplainedRoute {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  readonly reached: boolean
  readonly conditions: readonly {
    readonly on: string
    readonly name?: string
    readonly compare?: string
    readonly values: readonly string[]
    readonly not: boolean
  }[]
  readonly action: {
    readonly type: string
    readonly code?: number
    readonly scheme?: string | null
    readonly host?: string | null
    readonly port?: number | null
    readonly path?: string | null
    readonly pools?: readonly { readonly poolId: string; readonly weight: number }[]
    readonly authorizer?: { readonly poolId: string }
    readonly basicAuthentication?: { readonly usersId: string }
    readonly satisfy?: 'all' | 'any'
    readonly mirrors?: readonly { readonly poolId: string; readonly percent: number }[]
    readonly timeouts?: { readonly requestMs: number | null; readonly backendRequestMs: number | null }
    readonly clientRate?: { readonly requests: number; readonly perSeconds: number; readonly burst: number }
    readonly clientConcurrency?: number
    readonly maxBodyBytes?: number
    readonly retry?: { readonly attempts: number; readonly codes: readonly number[]; readonly backoffMs: number }
  }
}

export interface ExplainedListener {
  readonly routes: readonly ExplainedRoute[]
  readonly name: string
  readonly id: string
  readonly protocol: string
  readonly port: number
  readonly poolId: string | null
  /** The listener of its port that gets what none of its routes takes. Absent from older control planes. */
  readonly others?: { readonly id: string; readonly name: string } | null
  readonly allowedCidrs: readonly string[] | null
  readonly clientCertificates: 'required' | 'optional' | 'any' | null
  /** Clients' certificates are looked up in lists of revoked ones. Absent from older control planes. */
  readonly clientRevocations?: boolean
  readonly why: string | null
}

export interface ExplainedPool {
  readonly id: string
  readonly name: string
  readonly protocol: string
  readonly algorithm: string
  readonly tls: {
    readonly checked: boolean
    /** Absent from older control planes. */
    readonly revocations?: boolean
    readonly serverName: string | null
  } | null
  /** Absent from older control planes, which refuse none. */
  readonly refusedPercent?: number
  readonly monitored: boolean
  readonly panic: boolean
  readonly members: readonly {
    readonly id: string
    readonly name: string
    readonly address: string
    readonly port: number
    readonly weight: number
    readonly health: string
    readonly reason: string | null
    readonly since: string | null
    readonly why: string | null
  }[]
}
