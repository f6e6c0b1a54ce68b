import type { ModelView } from '@spout/admission/contract'
import type { NodeStateTable } from '@spout/controllers'
import type { StatusReader } from '@spout/model'
import type { ReadinessCheck } from '@spout/runtime/readiness'
import type { Store } from '@spout/store'

/** The conditions for `/readyz`. It is ready only when the data plane follows. */
export const readinessChecks = ({
  store,
  nodeStates,
  view,
  status,
}: {
  readonly store: Store
  readonly nodeStates: NodeStateTable
  readonly view: ModelView
  readonly status: StatusReader
}): readonly ReadinessCheck[] => [
  { name: 'store', check: () => store.health().reason },
  { name: 'planner', check: () => (nodeStates.ready() ? null : 'not every load balancer is planned yet') },
  {
    name: 'data-plane',
    check: () => {
      const behind = view.list('node').filter(({ id }) => {
        const { connection, inSync } = status.node(id)
        return connection === 'connected' && !inSync
      })
      return behind.length === 0 ? null : `not in sync: ${behind.map(({ name }) => name).join(', ')}`
    },
  },
  {
    name: 'nodes',
    check: () => {
      const nodes = view.list('node')
      return nodes.length === 0 || nodes.some(({ id }) => status.node(id).connection === 'connected')
        ? null
        : 'no node is connected'
    },
  },
]
