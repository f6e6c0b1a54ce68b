import type { ModelView } from '@spout/admission/contract'
import type { Leadership } from '@spout/controllers'
import type { Relay } from '@spout/server'
import type { Store } from '@spout/store'
import type { LeaderPart } from './leader-part.ts'

/** A condition for readiness: null when it holds, else the reason for people. */
export interface InstantCheck {
  readonly name: string
  readonly check: () => string | null
}

/** What a control plane that is one of several is. */
export const roleOf = (leadership: Leadership): string =>
  leadership.leadsForSure ? 'leads' : `follows ${leadership.leader?.holder ?? 'nobody'}`

/** The conditions for `/readyz`. The leader is ready only when the data plane follows, the others once there is one. */
export const readinessChecks = ({
  store,
  view,
  leadership,
  part,
  relay,
}: {
  readonly store: Store
  readonly view: ModelView
  readonly leadership: Leadership
  readonly part: LeaderPart
  /** Null: it is alone. */
  readonly relay: () => Relay | null
}): readonly InstantCheck[] => {
  const { status } = part
  const ofLeader = (check: () => string | null) => () => (leadership.leads ? check() : null)
  return [
    { name: 'store', check: () => store.health().reason },
    {
      name: 'leader',
      check: () => {
        // Of several, one that may have lost the lease answers nobody.
        const leads = relay() === null ? leadership.leads : leadership.leadsForSure
        return leads || leadership.follows ? null : 'no control plane leads'
      },
    },
    {
      name: 'peers',
      check: () => relay()?.trouble ?? null,
    },
    {
      name: 'planner',
      check: ofLeader(() => (part.isPlanned ? null : 'not every load balancer is planned yet')),
    },
    {
      name: 'data-plane',
      check: ofLeader(() => {
        const behind = view.list('node').filter(({ id }) => {
          const { connection, inSync } = status.node(id)
          return connection === 'connected' && !inSync
        })
        return behind.length === 0 ? null : `not in sync: ${behind.map(({ name }) => name).join(', ')}`
      }),
    },
    {
      name: 'nodes',
      check: ofLeader(() => {
        const nodes = view.list('node')
        return nodes.length === 0 || nodes.some(({ id }) => status.node(id).connection === 'connected')
          ? null
          : 'no node is connected'
      }),
    },
  ]
}
