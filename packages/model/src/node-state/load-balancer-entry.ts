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
  /** Limits of the load balancer's own proxy process. Absent: its proxied listeners share the domain's process. */
  readonly dedicatedProxy?: DedicatedProxy
  /** Size limits for requests of its HTTP listeners. Absent: the proxy's own limits. */
  readonly requestSizes?: RequestSizes
}

export interface NodeVip {
  readonly address: string
  readonly scope: 'fabric' | 'tenant'
  /** How this node announces it. Null: another node announces it. */
  readonly announce: Announce | null
}

/** Counts lists of users, named `<id> <content id>`. */
const userLists = new ListTally<NodeRoute>(({ action }) => {
  const users = action.type === 'forward' ? (action.basicAuthentication?.users ?? null) : null
  return users === null ? [] : [`${users.id} ${users.contentId}`]
})

/**
 * The lists of users that routes of these services check passwords with. The cost depends on the difference to lists of
 * routes that were counted before.
 */
export const userListsOf = (services: readonly Pick<Service, 'routes'>[]): readonly NodeCertificate[] =>
  services.flatMap(({ routes }) =>
    routes === undefined
      ? []
      : [...userLists.of(routes).keys()].map((text) => {
          const [id = '', contentId = ''] = text.split(' ')
          return { id, contentId }
        }),
  )

/** All certificates and lists of users that a node needs for a load balancer. */
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
