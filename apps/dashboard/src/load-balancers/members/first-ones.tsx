import { EmptyState } from '../../parts/empty-state.tsx'
import { command } from '../../parts/shell-word.ts'
import { useSession } from '../../session/session-context.ts'

/** Stands where a load balancer has no pool yet. */
export function FirstPool({ loadBalancer }: { readonly loadBalancer: string }) {
  const { may } = useSession()
  const text = command(['spout', 'pool', 'create', loadBalancer, 'web'], [['--protocol', 'http']])
  return (
    <EmptyState title="No pools yet" commands={may.balance ? [{ title: 'Create one', text }] : []}>
      A pool is a set of members that do the same. Listeners send what arrives to the members of a pool.
    </EmptyState>
  )
}

/** Stands where a pool has no member yet. */
export function FirstMember({ loadBalancer, pool }: { readonly loadBalancer: string; readonly pool: string }) {
  const { may } = useSession()
  const text = command(
    ['spout', 'member', 'create', loadBalancer, pool, 'web-1'],
    [
      ['--address', '10.0.0.11'],
      ['--port', 8080],
    ],
  )
  return (
    <EmptyState title="No members yet" commands={may.balance ? [{ title: 'Add one', text }] : []}>
      A member is a server with its address and port. Until the pool has one, nobody answers.
    </EmptyState>
  )
}
