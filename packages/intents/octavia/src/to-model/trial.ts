import { classSettingsOf, zoneSettingsOf } from '../conversion/offer-settings.ts'
import { blankMonitor, monitorResource } from '../resources/health-monitor.ts'
import { blankPolicy, policyResource } from '../resources/l7policy.ts'
import { blankRule, ruleResource } from '../resources/l7rule.ts'
import { blankListener, listenerResource } from '../resources/listener.ts'
import { blankMember, memberResource } from '../resources/member.ts'
import {
  flavorProfileResource,
  flavorResource,
  type OfferEdits,
  type ProfileEdits,
  zoneProfileResource,
  zoneResource,
} from '../resources/offers.ts'
import { blankPool, poolResource } from '../resources/pool.ts'
import { quotaResource } from '../resources/quota.ts'
import type { Resource } from '../resources/resource.ts'
import { foldGraph } from '../snapshots/graph.ts'
import type { Graph } from '../terms/octavia-resources.ts'
import { OctaviaFault } from '../wire/fault.ts'
import type { Stamp } from '../wire/wire-type.ts'
import { checkGraph } from './check-graph.ts'
import { addListener } from './create-listeners.ts'
import { addPool, type GraphEdit, setMonitor } from './edit-graph.ts'
import { addPolicy, addRule } from './edit-policies.ts'
import { readBody, readLoadBalancer } from './to-model.ts'

type Body = Readonly<Record<string, unknown>>

/** Every object has its id already. */
const STAMP: Stamp = { newId: () => '', now: '1970-01-01T00:00:00.000Z', byAdministrator: true }

const read = <D, R>(resource: Resource<D, R>, blank: (stamp: Stamp) => D, body: Body): D =>
  readBody(resource, 'create', { [resource.root]: body }, STAMP)(blank(STAMP))

const nothing = (): OfferEdits & ProfileEdits => ({})
/** Which node groups there are is asked elsewhere. */
const ANY_GROUP = { groups: [], noop: true }

/** The edit of a kind that is not inside of load balancers: its body is only read. */
const alone = (root: string, check: (body: Body) => unknown) => ({
  [root]: (body: Body): null => {
    check(body)
    return null
  },
})

/** What the creation of a child does to its load balancer; members are only read, since a graph does not depend on them. */
const EDITS: Readonly<Record<string, (body: Body, parentId: string) => GraphEdit | null>> = {
  pool: (body) => addPool(read(poolResource, blankPool, body)),
  listener: (body) => addListener(read(listenerResource, blankListener, body)),
  l7policy: (body) => addPolicy(read(policyResource, blankPolicy, body)),
  rule: (body, policyId) => addRule(policyId, read(ruleResource, blankRule, body)),
  healthmonitor: (body) => {
    const { poolId, ...monitor } = read(monitorResource, blankMonitor, body)
    return setMonitor(poolId ?? '', monitor)
  },
  member: (body) => {
    read(memberResource, blankMember, body)
    return null
  },
  ...alone('flavorprofile', (body) =>
    classSettingsOf(read(flavorProfileResource, nothing, body).data ?? '', ANY_GROUP),
  ),
  ...alone('availability_zone_profile', (body) =>
    zoneSettingsOf(read(zoneProfileResource, nothing, body).data ?? '', ANY_GROUP),
  ),
  ...alone('flavor', (body) => read(flavorResource, nothing, body)),
  ...alone('availability_zone', (body) => read(zoneResource, nothing, body)),
  ...alone('quota', (body) => readBody(quotaResource, 'update', { quota: body }, STAMP)({})),
}

/**
 * A load balancer that is put together from the bodies of requests without a server, as an administrator's. It says what
 * would be refused for what is offered and for what goes with what, but not what depends on addresses, quotas or
 * certificates.
 */
export class LoadBalancerTrial {
  #graph: Graph = { listeners: [], pools: [] }
  #vips: readonly string[] = []

  /**
   * Adds an object if it would be accepted.
   * @param kind the root attribute of its requests, such as `l7policy`
   * @returns the text of the fault; null when it is accepted
   */
  add(kind: string, body: Body, parentId: string | null): string | null {
    try {
      if (kind === 'loadbalancer') {
        const { vip, additionalVips } = readLoadBalancer({ loadbalancer: body }, STAMP)
        this.#vips = [vip, ...additionalVips].flatMap(({ address }) => address ?? [])
        return null
      }
      const graph = EDITS[kind]?.(body, parentId ?? '')?.(this.#graph)
      if (graph === undefined) return null
      checkGraph(graph, this.#vips)
      foldGraph(graph, {})
      this.#graph = graph
      return null
    } catch (error) {
      if (error instanceof OctaviaFault) return error.message
      throw error
    }
  }
}
