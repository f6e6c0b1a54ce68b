import type { Condition, KubeObject } from '@spout/kube'

/** GatewayClass of Gateway API v1.6, cluster-wide. */
export interface GatewayClass extends KubeObject {
  readonly spec: {
    readonly controllerName: string
    readonly parametersRef?: {
      readonly group: string
      readonly kind: string
      readonly name: string
      readonly namespace?: string
    }
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly supportedFeatures?: readonly { readonly name: string }[]
  }
}
