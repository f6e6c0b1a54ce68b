import type { ModelView } from '@spout/admission/contract'
import type { NodeConnection } from '@spout/model'
import type { NodeLiveness } from './node-liveness.ts'

/** The connection of a node, as users see it. A node without a certificate was never enrolled. */
export const nodeConnection = (
  nodeId: string,
  { view, liveness }: { readonly view: ModelView; readonly liveness: NodeLiveness },
): NodeConnection => {
  if (liveness.of(nodeId) === 'connected') return 'connected'
  const enrolled = view.get('node', nodeId)?.value.certificateSha256 != null
  return enrolled ? 'disconnected' : 'never'
}
