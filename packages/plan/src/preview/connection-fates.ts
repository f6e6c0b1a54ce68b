import type { ConnectionFate } from '@spout/model'
import type { LoadBalancerEntry, NodeMember, NodePool, Service } from '@spout/model/node-state'
import { isProxied, transportOf } from '@spout/model/protocols'
import { flowChanges, type PoolHealth } from '../flows/member-fates.ts'
import { entryOf, MOST_SHOWN, memberNames, type Planned, shownMember, shownPart } from './compared.ts'
import {
  ADDRESS_RULES,
  carriageOf,
  LISTENER_RULES,
  MEMBER_RULES,
  MOVE_RULES,
  PROTOCOL_RULE,
  SLOT_RULE,
} from './connection-rules.ts'
import { slotDifference } from './slot-difference.ts'
import { poolNumbersOf } from './used-pools.ts'

type Fate = Pick<ConnectionFate, 'fate' | 'code' | 'message'> & Partial<ConnectionFate>

const fateOf = (fate: Fate): ConnectionFate => ({
  listener: null,
  pool: null,
  afterSeconds: null,
  memberCount: 0,
  members: [],
  ...fate,
})

export const WORST_FIRST: readonly ConnectionFate['fate'][] = ['end', 'may-end', 'drain', 'stay']

/**
 * What happens to the connections that are open when a change is made, by the rules of `connection-rules.ts` and those
 * of members (`flowChanges`). Connections that nothing is said of stay. Members are taken to be up.
 */
export function connectionFates(before: Planned | null, after: Planned | null): readonly ConnectionFate[] {
  const was = before && entryOf(before)
  if (before === null || was === null) return []
  const whole = endOfAll(before, was, after)
  if (whole !== null) return [fateOf({ ...ADDRESS_RULES[whole], code: whole })]
  const sides: Sides = { before, after: after!, was, is: entryOf(after!)! }
  return [...addressFates(sides), ...moveFates(sides), ...listenerFates(sides), ...memberFates(sides)].sort(
    (one, other) => WORST_FIRST.indexOf(one.fate) - WORST_FIRST.indexOf(other.fate),
  )
}

interface Sides {
  readonly before: Planned
  readonly after: Planned
  readonly was: LoadBalancerEntry
  readonly is: LoadBalancerEntry
}

function endOfAll(before: Planned, was: LoadBalancerEntry, after: Planned | null): keyof typeof ADDRESS_RULES | null {
  if (after === null) return 'Deleted'
  if (!before.loadBalancer.enabled) return null
  if (!after.loadBalancer.enabled) return 'Disabled'
  const is = entryOf(after)
  if (is === null) return 'NotCarried'
  return is.domain === was.domain ? null : 'NetworkChanges'
}

function addressFates({ was, is }: Sides): readonly ConnectionFate[] {
  const there = new Set(is.vips.map(({ address }) => address))
  return was.vips.flatMap(({ address }) =>
    there.has(address)
      ? []
      : [fateOf({ ...ADDRESS_RULES.AddressLeaves, code: 'AddressLeaves', message: leaves(address) })],
  )
}

const leaves = (address: string): string => `${address}: ${ADDRESS_RULES.AddressLeaves.message}`

function moveFates({ before, after }: Sides): readonly ConnectionFate[] {
  const [was, is] = [before.plan.placement, after.plan.placement]
  const moves =
    (was.ownerNodeId !== null && was.ownerNodeId !== is.ownerNodeId) ||
    (was.shard !== null && was.shard.number !== is.shard?.number)
  const path = before.returnPath
  return moves && path !== null ? [fateOf({ ...MOVE_RULES[path], code: 'AddressMoves' })] : []
}

/** Listeners that go, or that are on another port or carried another way afterwards. */
function listenerFates({ before, after, was, is }: Sides): readonly ConnectionFate[] {
  const services = new Map(is.services.map((service) => [service.id, service]))
  return was.services.flatMap((service) => {
    const now = services.get(service.id)
    const listener = shownPart([before, after], 'listeners', service.id)
    const carriage = carriageOf(service, before.returnPath)
    const isSame =
      now !== undefined &&
      now.port === service.port &&
      carriageOf(now, before.returnPath) === carriage &&
      sameWay(now, service)
    if (isSame) return []
    // The proxy takes the members away with the last listener of their pool.
    if (now === undefined && isProxied(service.protocol) && !keepsPools(service, is)) return []
    if (now !== undefined && now.port === service.port)
      return [fateOf({ ...PROTOCOL_RULE, code: 'ProtocolChanges', listener })]
    const code = now === undefined ? 'ListenerLeaves' : 'PortChanges'
    return [fateOf({ ...LISTENER_RULES[carriage], code, listener })]
  })
}

/** Whether another listener uses the pools of one that goes. A listener without a pool has no connections. */
const keepsPools = (service: Service, is: LoadBalancerEntry): boolean => {
  const used = poolNumbersOf(is.services.filter(({ protocol }) => isProxied(protocol)))
  return [...poolNumbersOf([service])].some((number) => used.has(number))
}

const sameWay = (one: Service, other: Service): boolean => transportOf(one.protocol) === transportOf(other.protocol)

/** Connections to members that leave. In the packet path a pool counts for each listener, in the proxy once. */
function memberFates(sides: Sides): readonly ConnectionFate[] {
  const { before, was, is } = sides
  const [old, now] = [poolsOf(was), poolsOf(is)]
  const services = new Map(is.services.map((service) => [service.id, service]))
  const forwarded = was.services
    .filter(({ protocol }) => !isProxied(protocol))
    .flatMap((service) => {
      const after = services.get(service.id)
      // Nodes cut nothing of a listener that they no longer have.
      if (after === undefined || isProxied(after.protocol)) return []
      const [from, to] = [old.get(service.pool ?? 0) ?? null, now.get(after.pool ?? 0) ?? null]
      return before.returnPath === 'dsr'
        ? slotFates(sides, service, from, to)
        : leavingMembers(sides, service, from, to)
    })
  const [used, uses] = [poolNumbersOf(was.services), poolNumbersOf(is.services)]
  const proxied = [...used].flatMap((number) => {
    const [from, to] = [old.get(number) ?? null, uses.has(number) ? (now.get(number) ?? null) : null]
    return from === null || from.mode === 'l4' ? [] : leavingMembers(sides, null, from, to)
  })
  return [...forwarded, ...proxied]
}

const poolsOf = ({ pools }: LoadBalancerEntry): ReadonlyMap<number, NodePool> =>
  new Map(pools.map((pool) => [pool.number, pool]))

function slotFates(
  sides: Sides,
  service: Service,
  from: NodePool | null,
  to: NodePool | null,
): readonly ConnectionFate[] {
  if (from === null) return []
  const { size, moved } = to === null ? { size: 1, moved: 1 } : (slotDifference(from, to) ?? { size: 1, moved: 0 })
  if (moved === 0) return []
  const message = to === null ? SLOT_RULE.message : `${SLOT_RULE.message} These are ${moved} of ${size}.`
  return [fateOf({ ...SLOT_RULE, message, code: 'SlotsMove', ...placeOf(sides, service, from) })]
}

const placeOf = ({ before, after }: Sides, service: Service | null, pool: NodePool) => ({
  listener: service && shownPart([before, after], 'listeners', service.id),
  pool: shownPart([before, after], 'pools', pool.id),
})

const ALL_UP: PoolHealth['down'] = new Set()
const health = (pool: NodePool | null): PoolHealth | null => pool && { pool, down: ALL_UP }

/** @param service null: all that use the pool */
function leavingMembers(
  sides: Sides,
  service: Service | null,
  from: NodePool | null,
  to: NodePool | null,
): readonly ConnectionFate[] {
  if (from === null || from === to) return []
  const transport = service === null ? 'tcp' : transportOf(service.protocol)
  const drains = flowChanges(transport, health(from), health(to)).filter((change) => change.what === 'drain')
  const byTime = Map.groupBy(drains, ({ afterMs }) => afterMs)
  return Array.from(byTime, ([afterMs, leaving]) =>
    fateOf({
      ...(afterMs === 0 ? MEMBER_RULES.cut : MEMBER_RULES.drain),
      code: 'MembersLeave',
      ...placeOf(sides, service, from),
      afterSeconds: Math.round(afterMs / 1000),
      memberCount: leaving.length,
      members: shownEnds(
        sides.before,
        from,
        leaving.slice(0, MOST_SHOWN).map(({ end }) => end),
      ),
    }),
  )
}

type End = Pick<NodeMember, 'address' | 'port'>

function shownEnds({ loadBalancer }: Planned, pool: NodePool, ends: readonly End[]): ConnectionFate['members'] {
  const wanted = new Set(ends.map(({ address, port }) => `${address} ${port}`))
  const members = pool.members.filter((member) => member !== null && wanted.has(`${member.address} ${member.port}`))
  const names = memberNames([loadBalancer], pool.id, new Set(members.map((member) => member?.id ?? '')))
  const ids = new Map(members.map((member) => [`${member?.address} ${member?.port}`, member?.id ?? '']))
  return ends.map((end) => shownMember({ ...end, id: ids.get(`${end.address} ${end.port}`) ?? '' }, names))
}
