import type { LoadBalancer, LoadBalancerStatus, Vip } from '@spout/model'
import { WrittenJson } from '@spout/runtime'
import { type LoadBalancerReading, loadBalancerResource } from '../resources/load-balancer.ts'
import { type Snapshot, updatedAt } from '../snapshots/snapshot.ts'
import { printObject } from '../wire/field.ts'

/** With more children than this, a text is not worth its memory. */
const MOST_CHILDREN = 20

interface Known {
  /** What the text depends on besides the stored object. */
  readonly status: LoadBalancerStatus
  readonly state: string
  readonly vips: readonly Vip[]
  readonly text: WrittenJson
}

/**
 * A cache of load balancers as lists and answers show them. Clients ask for them again and again, and most load
 * balancers are the same as the last time, so their text is kept until they change.
 */
export class KnownLoadBalancers {
  readonly #known = new WeakMap<LoadBalancer, Known>()

  /** The text that was printed, if it is still right; otherwise null. */
  known({ snapshot, vips }: LoadBalancerReading): WrittenJson | null {
    const known = this.#known.get(snapshot.lb)
    return known !== undefined && isSame(known.vips, vips) && isCurrent(known, snapshot) ? known.text : null
  }

  /** All attributes. */
  print(reading: LoadBalancerReading): WrittenJson | Readonly<Record<string, unknown>> {
    const { snapshot, vips } = reading
    const { lb } = snapshot
    if (lb.listeners.length + lb.pools.length > MOST_CHILDREN) return printObject(loadBalancerResource.fields, reading)
    const known = this.known(reading)
    if (known !== null) return known
    const text = new WrittenJson(printObject(loadBalancerResource.fields, reading))
    this.#known.set(lb, { status: snapshot.status, state: stateOf(snapshot), vips, text })
    return text
  }
}

/** Whether a text of this status is still right. An unchanged status object may still count more connections. */
const isCurrent = (known: Known, snapshot: Snapshot): boolean =>
  (known.status === snapshot.status && !hasLimits(snapshot.lb)) ||
  (known.status.serving === snapshot.status.serving && known.state === stateOf(snapshot))

const hasLimits = ({ listeners }: LoadBalancer): boolean =>
  listeners.some(({ connectionLimit }) => connectionLimit !== null)

/**
 * The operating status follows from `serving`, whether a node confirmed the load balancer, and the connections of
 * listeners with a limit.
 */
function stateOf(snapshot: Snapshot): string {
  const { lb, status, provisioning } = snapshot
  const operating = hasLimits(lb) ? snapshot.operating(lb.id) : status.confirmedGeneration > 0
  return `${provisioning} ${operating} ${updatedAt(snapshot, lb)}`
}

const isSame = (left: readonly Vip[], right: readonly Vip[]): boolean =>
  left === right || (left.length === right.length && left.every((vip, at) => vip === right[at]))
