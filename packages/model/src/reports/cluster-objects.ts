import { z } from 'zod'

/** Kinds of objects of a Kubernetes cluster that load balancers are made for. */
export const CLUSTER_KINDS = ['service', 'ingress', 'gateway', 'load-balancer'] as const

/** An object of a Kubernetes cluster that a load balancer was made for, as the load balancer's annotations name it. */
export const clusterObject = z.strictObject({
  kind: z.enum(CLUSTER_KINDS),
  /** `namespace/name`. */
  name: z.string(),
  /** The id that the connector has for the cluster; null where it did not say. */
  cluster: z.string().nullable(),
})
export type ClusterObject = z.infer<typeof clusterObject>

/** Connectors name the cluster by this annotation, and each object by its UID; the value is `namespace/name`. */
const CLUSTER = 'kubernetes.cluster'
const OBJECT = new RegExp(`^kubernetes\\.(${CLUSTER_KINDS.join('|')})\\.[^.]+$`)

/** The objects that a load balancer was made for, in the order of its annotations. They are texts of a tenant. */
export function clusterObjects(annotations: Readonly<Record<string, string>>): readonly ClusterObject[] {
  const cluster = annotations[CLUSTER] ?? null
  return Object.entries(annotations).flatMap(([key, name]) => {
    const kind = OBJECT.exec(key)?.[1] as ClusterObject['kind'] | undefined
    return kind === undefined ? [] : [{ kind, name, cluster }]
  })
}
