import type { Announce } from '../announcers/registry.ts'
import { ListTally } from '../diff/list-tally.ts'
import type { DedicatedProxy, RequestSizes } from '../load-balancers/offer.ts'
import type { NodeCertificate } from './certificate.ts'
import type { NodePool } from './pool.ts'
import type { NodeRoute } from './route.ts'
import type { Service } from './service.ts'
import type { NODE_STATE_VERSION } from './version.ts'

/** One load balancer on one node. */
export interface LoadBalancerEntry {
  readonly kind: 'load-balancer'
  readonly version: typeof NODE_STATE_VERSION
  /** `lb/<id>`. */
  readonly key: string
  readonly id: string
  readonly generation: number
  /** `DomainEntry.number` of its domain. */
  readonly domain: number
  readonly vips: readonly NodeVip[]
  readonly services: readonly Service[]
  readonly pools: readonly NodePool[]
  /** Its proxied listeners have a process of their own, with these limits. Absent: they share the domain's. */
  readonly dedicatedProxy?: DedicatedProxy
  /** Larger requests of its HTTP listeners are refused. Absent: as large as the proxy takes. */
  readonly requestSizes?: RequestSizes
}

export interface NodeVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** How this node announces it; null: another node does. */
  readonly announce: Announce | null
}

/** Lists of users as `<id> <content id>`. The cost depends on the difference to lists of routes that were asked for before. */
const userLists = new ListTally<NodeRoute>(({ action }) => {
  const users = action.type === 'forward' ? (action.basicAuthentication?.users ?? null) : null
  return users === null ? [] : [`${users.id} ${users.contentId}`]
})

/** The lists of users that routes of these services ask. */
export const userListsOf = (services: readonly Pick<Service, 'routes'>[]): readonly NodeCertificate[] =>
  services.flatMap(({ routes }) =>
    routes === undefined
      ? []
      : [...userLists.of(routes).keys()].map((text) => {
          const [id = '', contentId = ''] = text.split(' ')
          return { id, contentId }
        }),
  )

/** All certificates that a node needs for a load balancer, and lists of users. */
export const certificatesOfEntry = ({
  services,
  pools,
}: Pick<LoadBalancerEntry, 'services' | 'pools'>): readonly NodeCertificate[] => [
  ...userListsOf(services),
  ...services.flatMap(({ tls }) => tls?.certificates ?? []),
  ...services.flatMap(({ tls }) => tls?.clients?.authorities ?? []),
  ...services.flatMap(({ tls }) => tls?.clients?.revocations ?? []),
  ...services.flatMap(({ accessLog }) => accessLog?.syslog?.tls?.authorities ?? []),
  ...services.flatMap(({ accessLog }) => accessLog?.syslog?.tls?.certificate ?? []),
  ...pools.flatMap(({ tls }) => [tls?.authorities ?? [], tls?.revocations ?? [], tls?.certificate ?? []].flat()),
]
