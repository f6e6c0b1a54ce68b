/** Annotation of a load balancer: the class that its objects named when it was made. Absent: none. */
export const CLASS_ANNOTATION = 'kubernetes.load-balancer-class'

/**
 * The class of load balancers that an object names: `spout.dev/gold` names `gold` where our own name is
 * `spout.dev/load-balancer`, which names none.
 * @param ours a name with a domain, such as `spout.dev/load-balancer`
 * @returns a class's name or id; undefined for our own name, and for names of other domains
 */
export function namedClass(name: string | undefined, ours: string): string | undefined {
  const domain = ours.slice(0, ours.indexOf('/') + 1)
  if (name === undefined || name === ours || !name.startsWith(domain)) return undefined
  return name.slice(domain.length) || undefined
}
