import type { Admission, NodeStates, OpenCertificate } from '@spout/admission/contract'
import { certificatesOfEntry, loadBalancerKey, SpoutError } from '@spout/model'

/**
 * The certificates that a load balancer's listeners and pools name, with their keys in clear.
 * @param asked ids of those that the node lacks; null: all
 * @throws SpoutError NotFound unless this node has the load balancer now
 */
export function certificatesOf(
  { states, admission }: { readonly states: NodeStates; readonly admission: Pick<Admission, 'openCertificate'> },
  nodeId: string,
  loadBalancerId: string,
  asked: ReadonlySet<string> | null,
): { readonly certificates: readonly OpenCertificate[] } {
  const entry = states.get(nodeId, loadBalancerKey(loadBalancerId))?.entry
  if (entry?.kind !== 'load-balancer') throw new SpoutError('NotFound', { what: 'load balancer', id: loadBalancerId })
  const named = new Set(certificatesOfEntry(entry).map(({ id }) => id))
  const ids = asked === null ? named : named.intersection(asked)
  return { certificates: [...ids].flatMap((id) => opened(admission, id) ?? []) }
}

/** One that cannot be opened must not keep the others from their listeners: the node says which one it lacks. */
function opened({ openCertificate }: Pick<Admission, 'openCertificate'>, id: string): OpenCertificate | null {
  try {
    return openCertificate(id)
  } catch (error) {
    if (error instanceof SpoutError && (error.code === 'NotFound' || error.code === 'Unavailable')) return null
    throw error
  }
}
