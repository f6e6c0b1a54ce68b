import type { LoadBalancer, Serving, Vip } from '@spout/model'
import { WrittenJson } from '@spout/runtime'
import { type LoadBalancerReading, loadBalancerResource } from './resources/load-balancer.ts'
import { type Snapshot, updatedAt } from './snapshot.ts'
import { printObject } from './wire/field.ts'

/** More children make a text that is not worth its memory. */
const MOST_CHILDREN = 20

interface Known {
  /** What the text depends on besides the stored object. */
  readonly serving: Serving
  readonly state: string
  readonly vips: readonly Vip[]
  readonly text: WrittenJson
}

/**
 * Load balancers as lists show them. Clients ask for their lists again and again, and most load balancers are the same
 * as the last time, so their text is kept until they change.
 */
export class KnownLoadBalancers {
  readonly #known = new WeakMap<LoadBalancer, Known>()

  /** All attributes. */
  print(reading: LoadBalancerReading): WrittenJson | Readonly<Record<string, unknown>> {
    const { snapshot, vips } = reading
    const { lb } = snapshot
    if (lb.listeners.length + lb.pools.length > MOST_CHILDREN) return printObject(loadBalancerResource.fields, reading)
    const { serving } = snapshot.status
    const state = stateOf(snapshot)
    const known = this.#known.get(lb)
    if (known?.serving === serving && known.state === state && isSame(known.vips, vips)) return known.text
    const text = new WrittenJson(printObject(loadBalancerResource.fields, reading))
    this.#known.set(lb, { serving, state, vips, text })
    return text
  }
}

/**
 * The operating status follows from `serving`, whether a node confirmed the load balancer, and the connections of
 * listeners with a limit.
 */
function stateOf(snapshot: Snapshot): string {
  const { lb, status, provisioning } = snapshot
  const isLimited = lb.listeners.some(({ connectionLimit }) => connectionLimit !== null)
  const operating = isLimited ? snapshot.operating(lb.id) : status.confirmedGeneration > 0
  return `${provisioning} ${operating} ${updatedAt(snapshot, lb)}`
}

const isSame = (left: readonly Vip[], right: readonly Vip[]): boolean =>
  left.length === right.length && left.every((vip, at) => vip === right[at])
