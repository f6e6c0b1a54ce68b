import type { KubeObject } from './object-meta.ts'

/** A node with it, whatever its value, takes no part in load balancers. */
export const EXCLUDE_NODE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
/** On nodes that the cluster's autoscaler is about to remove. */
export const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'

/** core/v1 Node. */
export interface Node extends KubeObject {
  readonly spec?: NodeSpec
  readonly status?: NodeStatus
}

export interface NodeSpec {
  readonly podCIDR?: string
  readonly podCIDRs?: readonly string[]
  readonly providerID?: string
  readonly unschedulable?: boolean
  readonly taints?: readonly Taint[]
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[]
  readonly conditions?: readonly NodeCondition[]
}

export interface NodeAddress {
  readonly type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS'
  readonly address: string
}

export interface NodeCondition {
  /** `Ready` and others. */
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
}
