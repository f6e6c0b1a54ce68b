import { RESPONSE_CLASSES } from '@spout/model/node-report'
import type { LoadBalancerEntry, NodePool } from '@spout/model/node-state'
import type { PoolFigures, TrafficFigures } from '../../../contracts/driver.ts'
import { serverIdentity } from '../rendering/server-identity.ts'
import { type BackendTraffic, TRAFFIC_COLUMNS, type TrafficCounters } from './show.ts'

const FIELDS = Object.keys(TRAFFIC_COLUMNS) as readonly (keyof TrafficCounters)[]
const AVERAGES: ReadonlySet<keyof TrafficCounters> = new Set(['queueMs', 'connectMs', 'responseMs', 'totalMs'])
const NOW: ReadonlySet<keyof TrafficCounters> = new Set(['current', 'queued', ...AVERAGES])

/** Counters of a backend for its present pool, and of its servers. */
export interface OwnedTraffic extends BackendTraffic {
  /** `RenderedBackend.owner`: listeners with other time-outs have other backends for the same pool. */
  readonly owner: string
}

/** The counters of the pools of an entry that the proxy balances. Pure. */
export const poolFigures = (
  { pools }: Pick<LoadBalancerEntry, 'pools'>,
  backends: readonly OwnedTraffic[],
): readonly PoolFigures[] =>
  pools.flatMap((pool) => {
    const own = backends.filter(({ owner }) => owner.startsWith(`p${pool.number}/`))
    if (own.length === 0) return []
    return [{ poolId: pool.id, ...figuresOf(own.map(({ all }) => all)), members: membersOf(pool, own) }]
  })

function membersOf(pool: NodePool, backends: readonly BackendTraffic[]): PoolFigures['members'] {
  const members = new Map<string, TrafficFigures>()
  for (const member of pool.members) {
    if (member === null) continue
    const { name } = serverIdentity(member, pool)
    const counted = backends.flatMap(({ servers }) => servers.get(name) ?? [])
    if (counted.length > 0) members.set(member.id, figuresOf(counted))
  }
  return members
}

function figuresOf(counted: readonly TrafficCounters[]): TrafficFigures {
  const sum = (field: keyof TrafficCounters): number => counted.reduce((total, one) => total + one[field], 0)
  const average = (field: keyof TrafficCounters): number =>
    counted.reduce((total, one) => total + one[field] * one.total, 0) / (sum('total') || 1)
  const figures = Object.fromEntries(
    FIELDS.map((field) => [field, AVERAGES.has(field) ? average(field) : sum(field)]),
  ) as TrafficCounters
  const responses = Object.fromEntries(RESPONSE_CLASSES.map((each) => [each, figures[each]]))
  return { ...figures, responses: responses as TrafficFigures['responses'] }
}

/** The counters of a backend since its slot has this owner. @param before the counters at that time */
export const since = (counted: TrafficCounters, before: TrafficCounters | undefined): TrafficCounters =>
  before === undefined
    ? counted
    : (Object.fromEntries(
        FIELDS.map((field) => [field, NOW.has(field) ? counted[field] : Math.max(0, counted[field] - before[field])]),
      ) as TrafficCounters)
