import type { KubeObject, ObjectMeta, Resource } from '@spout/kube'

/** Kubernetes 1.36 objects with the fields that the checks read. */

/** core/v1 Pod. */
export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string
    readonly hostNetwork?: boolean
    readonly containers: readonly Container[]
  }
  readonly status?: {
    readonly phase?: string
    readonly startTime?: string
    readonly podIPs?: readonly { readonly ip: string }[]
    readonly conditions?: readonly PodCondition[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

interface PodCondition {
  readonly type: string
  readonly status: string
  readonly message?: string
}

interface ContainerStatus {
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly terminated?: { readonly exitCode: number; readonly reason?: string }
  }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
}

/** apps/v1 Deployment, StatefulSet or DaemonSet. */
export interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number
    readonly template: { readonly spec: Pod['spec'] }
  }
  readonly status?: {
    readonly availableReplicas?: number
    /** Of a DaemonSet. */
    readonly desiredNumberScheduled?: number
    readonly numberAvailable?: number
  }
}

/** core/v1 PersistentVolumeClaim. */
export interface Claim extends KubeObject {
  readonly spec: { readonly storageClassName?: string }
  readonly status?: { readonly phase?: string }
}

/** With the times of changes, by the API server's clock. */
interface Managed extends ObjectMeta {
  readonly managedFields?: readonly { readonly time?: string }[]
}

/** The time of the newest change of an object, in milliseconds of the API server's clock; null if it does not say. */
export function changedAt({ metadata }: KubeObject): number | null {
  const times = ((metadata as Managed).managedFields ?? []).flatMap(({ time }) => time ?? [])
  return times.length === 0 ? null : Math.max(...times.map((time) => Date.parse(time)))
}

const of = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  namespaced = true,
): Resource<T> => ({
  ...{ apiVersion, kind, plural, namespaced },
})

export const PODS = of<Pod>('v1', 'Pod', 'pods')
export const CLAIMS = of<Claim>('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims')
export const DEPLOYMENTS = of<Workload>('apps/v1', 'Deployment', 'deployments')
export const STATEFUL_SETS = of<Workload>('apps/v1', 'StatefulSet', 'statefulsets')
export const DAEMON_SETS = of<Workload>('apps/v1', 'DaemonSet', 'daemonsets')
export const CLUSTER_ROLES = of('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', false)
