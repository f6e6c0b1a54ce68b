import { endpointText } from '@spout/net'
import type { ExplainedMember, ExplainedPool, ExplainedRoute, LoadBalancerExplanation } from '../../api/explanation.ts'
import type { Tone } from '../../parts/badge.tsx'
import { inNameOrder } from '../../parts/name-order.ts'
import { MEMBER_WORDS } from '../members/member-words.ts'
import { actionText, conditionsText } from './route-text.ts'

export const COLUMNS = ['client', 'address', 'node', 'listener', 'route', 'pool', 'member'] as const
export type Column = (typeof COLUMNS)[number]

/** One thing that a connection passes. */
export interface Box {
  /** Unique in the graph. */
  readonly id: string
  readonly column: Column
  readonly title: string
  readonly detail: string
  readonly tone: Tone
  /** How it is, in a word or two. */
  readonly state: string
  /** Why it is not green, a sentence; null when it is. */
  readonly reason: string | null
}

export interface PathLink {
  readonly from: string
  readonly to: string
  /** Whether connections take it now. */
  readonly isUsed: boolean
}

export interface PathGraph {
  readonly boxes: readonly Box[]
  readonly links: readonly PathLink[]
}

/** More of a kind are one box, so that a pool of ten thousand members can be read. Those in need are shown. */
export const MOST_DRAWN = 12

/** What the listeners do now, by listener id: text such as `12/s`. */
export type Rates = ReadonlyMap<string, string>

/** The path of a connection as boxes and links, from left to right. */
export function pathGraph(told: LoadBalancerExplanation, rates: Rates = new Map()): PathGraph {
  const graph = new GraphParts()
  graph.box({ id: 'client', column: 'client', title: 'Clients', detail: '', tone: 'quiet', state: '', reason: null })
  addAddresses(graph, told)
  addListeners(graph, told, rates)
  addPools(graph, told.pools)
  return graph.whole()
}

class GraphParts {
  readonly #boxes: Box[] = []
  readonly #links = new Map<string, PathLink>()

  box(box: Box): void {
    this.#boxes.push(box)
  }

  /** A link that is used by one of several users is used. */
  link(from: string, to: string, isUsed: boolean): void {
    const key = `${from} ${to}`
    this.#links.set(key, { from, to, isUsed: isUsed || (this.#links.get(key)?.isUsed ?? false) })
  }

  whole(): PathGraph {
    const known = new Set(this.#boxes.map(({ id }) => id))
    return {
      boxes: this.#boxes,
      links: [...this.#links.values()].filter(({ from, to }) => known.has(from) && known.has(to)),
    }
  }
}

function addAddresses(
  graph: GraphParts,
  { vips, nodes, owner, ownerReason, listeners }: LoadBalancerExplanation,
): void {
  for (const { address, announcedBy, pool, scope } of vips) {
    const isAnnounced = announcedBy.length > 0
    graph.box({
      ...{ id: `address ${address}`, column: 'address', title: address },
      detail: pool?.name ?? (scope === 'tenant' ? 'own network' : ''),
      tone: isAnnounced ? 'ok' : 'warn',
      state: isAnnounced ? 'announced' : 'not announced',
      reason: isAnnounced ? null : `No node announces it. ${ownerReason.message}`,
    })
    graph.link('client', `address ${address}`, isAnnounced)
    for (const { nodeId, nodeName } of nodes)
      graph.link(`address ${address}`, `node ${nodeId}`, announcedBy.includes(nodeName))
  }
  for (const { nodeId, nodeName, connection, state, message } of inNameOrder(nodes, ({ nodeName }) => nodeName)) {
    const carries = nodeId === owner?.id || vips.some(({ announcedBy }) => announcedBy.includes(nodeName))
    const isWell = state === 'programmed' && connection === 'connected'
    graph.box({
      ...{ id: `node ${nodeId}`, column: 'node', title: nodeName },
      detail: carries ? 'announces' : 'stands by',
      tone: isWell ? (carries ? 'ok' : 'quiet') : state === 'failed' ? 'bad' : 'warn',
      state: connection === 'connected' ? state : 'silent',
      reason: isWell ? null : (message ?? nodeReason(connection, state)),
    })
    for (const { id } of listeners) graph.link(`node ${nodeId}`, `listener ${id}`, carries)
  }
}

const nodeReason = (connection: string, state: string): string =>
  connection === 'connected'
    ? state === 'waiting'
      ? 'It has not confirmed the newest version yet.'
      : 'It could not program this load balancer.'
    : 'It does not report. It keeps forwarding what it has.'

function addListeners(graph: GraphParts, { listeners, pools }: LoadBalancerExplanation, rates: Rates): void {
  const drawn = listeners.slice(0, MOST_DRAWN)
  for (const { id, name, protocol, port, answers, why, stats, routes, poolId } of drawn) {
    const rate = rates.get(id)
    graph.box({
      ...{ id: `listener ${id}`, column: 'listener', title: `${protocol} ${port}` },
      detail: [name, rate ?? (stats === null ? '' : `${stats.activeConnections} open`)].filter(Boolean).join(' · '),
      tone: answers && why === null ? 'ok' : answers ? 'bad' : 'quiet',
      state: answers ? (why === null ? 'listens' : 'refuses') : 'off',
      reason: why,
    })
    if (poolId !== null) graph.link(`listener ${id}`, `pool ${poolId}`, answers)
    const shown = routes.slice(0, MOST_DRAWN)
    for (const route of shown) {
      graph.box({
        ...{ id: `route ${route.id}`, column: 'route', title: route.name || conditionsText(route.conditions) },
        detail: routeDetail(route, pools),
        tone: route.reached ? 'ok' : route.enabled ? 'warn' : 'quiet',
        state: route.reached ? 'reached' : route.enabled ? 'never reached' : 'off',
        reason: route.enabled && !route.reached ? 'Earlier routes take every request that it matches.' : null,
      })
      graph.link(`listener ${id}`, `route ${route.id}`, answers && route.reached)
      if (route.action.type === 'forward')
        for (const { poolId: to, weight } of route.action.pools)
          graph.link(`route ${route.id}`, `pool ${to}`, answers && route.reached && weight > 0)
    }
    const more = routes.length - shown.length
    if (more > 0) {
      graph.box(moreBox(`routes ${id}`, 'route', `${more} more routes`))
      graph.link(`listener ${id}`, `routes ${id}`, answers)
    }
  }
}

/** A link says where a route leads. One that answers itself has none, and says what it does. */
function routeDetail({ name, action, conditions }: ExplainedRoute, pools: readonly ExplainedPool[]): string {
  if (name === '') return actionText(action, pools)
  const asked = conditionsText(conditions)
  return action.type === 'forward' ? asked : `${actionText(action, pools)}: ${asked}`
}

function addPools(graph: GraphParts, pools: readonly ExplainedPool[]): void {
  for (const pool of pools.slice(0, MOST_DRAWN)) {
    const { id, name, protocol, members, panic } = pool
    const takers = members.filter(({ takesTraffic }) => takesTraffic).length
    const down = members.filter(({ health }) => health === 'down').length
    graph.box({
      ...{ id: `pool ${id}`, column: 'pool', title: name || protocol },
      detail: `${protocol} · ${takers} of ${members.length}`,
      tone: !pool.enabled ? 'quiet' : takers === 0 ? 'bad' : down > 0 ? 'warn' : 'ok',
      state: pool.enabled ? (panic ? 'ignores health' : `${takers} of ${members.length} serve`) : 'off',
      reason: poolReason(pool, takers, down),
    })
    const drawn = inNeed(members)
    for (const member of drawn) {
      graph.box(memberBox(member))
      graph.link(`pool ${id}`, `member ${member.id}`, member.takesTraffic)
    }
    const more = members.length - drawn.length
    if (more > 0) {
      graph.box(moreBox(`members ${id}`, 'member', `${more} more members`))
      graph.link(`pool ${id}`, `members ${id}`, takers > 0)
    }
  }
}

function poolReason({ enabled, members, panic, refusedPercent }: ExplainedPool, takers: number, down: number) {
  if (!enabled) return null
  if (members.length === 0) return 'It has no members.'
  if (panic) return 'So few members are up that their health is ignored.'
  if (takers === 0) return 'None of its members takes traffic.'
  if (refusedPercent > 0) return `It refuses ${refusedPercent} % of new connections.`
  return down > 0 ? `${down} of ${members.length} members ${down === 1 ? 'is' : 'are'} down.` : null
}

/** The members that are drawn: those that take nothing first, in their order. */
function inNeed(members: readonly ExplainedMember[]): readonly ExplainedMember[] {
  if (members.length <= MOST_DRAWN) return members
  return members.toSorted((a, b) => Number(a.takesTraffic) - Number(b.takesTraffic)).slice(0, MOST_DRAWN)
}

function memberBox({ id, name, address, port, weight, health, reason, takesTraffic, why }: ExplainedMember): Box {
  const endpoint = endpointText({ address, port })
  return {
    ...{ id: `member ${id}`, column: 'member', title: name || endpoint },
    detail: [name === '' ? '' : endpoint, weight === 1 ? '' : `weight ${weight}`].filter(Boolean).join(' · '),
    tone: health === 'down' ? 'bad' : takesTraffic && health !== 'unknown' ? 'ok' : 'quiet',
    state: MEMBER_WORDS[health],
    reason:
      health === 'down'
        ? `It is down: ${reason ?? 'its check fails'}.`
        : why !== null
          ? `It takes nothing: ${why}.`
          : health === 'unknown'
            ? 'Its first check is not over. It takes traffic meanwhile.'
            : null,
  }
}

const moreBox = (id: string, column: Column, title: string): Box => ({
  ...{ id, column, title, detail: 'not drawn', state: '' },
  tone: 'quiet',
  reason: null,
})

/** What is not as it should be, in the order of the path. */
export const complaints = ({ boxes }: PathGraph): readonly Box[] =>
  boxes.filter(({ tone, reason }) => reason !== null && (tone === 'bad' || tone === 'warn'))

/** A box with all that lead to it and all that it leads to. */
export function pathThrough({ links }: PathGraph, id: string): ReadonlySet<string> {
  const found = new Set([id])
  const follow = (from: 'from' | 'to', to: 'from' | 'to'): void => {
    const open = [id]
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const link of links) {
        if (link[from] !== at || found.has(link[to])) continue
        found.add(link[to])
        open.push(link[to])
      }
  }
  follow('from', 'to')
  follow('to', 'from')
  return found
}
