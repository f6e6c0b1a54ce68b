/** Annotation of a load balancer: the class that its objects named when it was created. Absent: none. */
export const CLASS_ANNOTATION = 'kubernetes.load-balancer-class'

/**
 * The class of load balancers in the name of a Kubernetes class: `spout.dev/gold` means `gold`.
 * @param ours our own Kubernetes class, such as `spout.dev/load-balancer`, which stands for no class of ours
 * @returns a name or id; undefined for `ours`, and for names of other domains
 */
export function namedClass(name: string | undefined, ours: string): string | undefined {
  const domain = ours.slice(0, ours.indexOf('/') + 1)
  if (name === undefined || name === ours || !name.startsWith(domain)) return undefined
  return name.slice(domain.length) || undefined
}
