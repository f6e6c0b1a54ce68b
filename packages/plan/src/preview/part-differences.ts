import { type MemberDifference, type PartDifference, sameJson } from '@spout/model'
import type { NodeMember, NodePool, Service } from '@spout/model/node-state'
import { entryOf, MOST_SHOWN, memberNames, type Planned, shownMember, shownPart } from './compared.ts'
import { slotDifference } from './slot-difference.ts'

/** What nodes get of a listener, in words. The compiler asks for every field. */
const LISTENER_FIELDS: Readonly<Record<Exclude<keyof Service, 'id'>, string>> = {
  protocol: 'protocol',
  port: 'port',
  pool: 'default pool',
  connectionLimit: 'connection limit',
  allowedCidrs: 'allowed networks',
  timeouts: 'time-outs',
  insertHeaders: 'headers for members',
  routes: 'routes',
  tls: 'TLS',
  latencies: 'request durations',
  routeFigures: 'figures of routes',
  accessLog: 'access log',
}

/** What nodes get of a pool besides its members. */
const POOL_FIELDS: Readonly<Record<Exclude<keyof NodePool, 'id' | 'number' | 'members' | 'slots'>, string>> = {
  mode: 'what carries it',
  algorithm: 'algorithm',
  sourceAffinity: 'persistence',
  clientNetworks: 'persistence',
  keepSeconds: 'persistence',
  session: 'persistence',
  proxyProtocol: 'PROXY protocol',
  refusedPercent: 'refused share',
  check: 'health check',
  panicThreshold: 'panic threshold',
  slowStartMs: 'slow start',
  drainMs: 'drain time',
  resetOnDown: 'reset of failed members',
  passive: 'passive check',
  tls: 'TLS with members',
  http2: 'HTTP/2 with members',
}

/** What differs in the listeners and pools that nodes get. Parts whose difference matters to no node are left out. */
export function partDifferences(before: Planned | null, after: Planned | null): readonly PartDifference[] {
  const [was, is] = [before && entryOf(before), after && entryOf(after)]
  const document = (after ?? before)?.loadBalancer
  if (document === undefined) return []
  return [
    ...pairs(was?.services ?? [], is?.services ?? []).flatMap((pair) => listenerDifference(pair, [before, after])),
    ...pairs(was?.pools ?? [], is?.pools ?? []).flatMap((pair) => poolDifference(pair, [before, after])),
  ]
}

type Pair<T> = readonly [before: T | null, after: T | null]

/** Parts by id: those that are there afterwards in their order, then those that go. */
function pairs<T extends { readonly id: string }>(before: readonly T[], after: readonly T[]): readonly Pair<T>[] {
  const was = new Map(before.map((part) => [part.id, part]))
  const there = new Set(after.map(({ id }) => id))
  return [
    ...after.map((part): Pair<T> => [was.get(part.id) ?? null, part]),
    ...before.flatMap((part): readonly Pair<T>[] => (there.has(part.id) ? [] : [[part, null]])),
  ]
}

function listenerDifference(pair: Pair<Service>, sides: Pair<Planned>): readonly PartDifference[] {
  const fields = changedFields(LISTENER_FIELDS, pair)
  const head = headOf('listener', pair, sides)
  return head.change === 'changed' && fields.length === 0
    ? []
    : [{ ...head, fields, memberChanges: 0, members: [], slots: null }]
}

function poolDifference(pair: Pair<NodePool>, sides: Pair<Planned>): readonly PartDifference[] {
  if (pair[0] === pair[1]) return []
  const fields = changedFields(POOL_FIELDS, pair)
  const { count, first } = memberDifferences(pair, sides)
  const head = headOf('pool', pair, sides)
  if (head.change === 'changed' && fields.length + count === 0) return []
  return [{ ...head, fields, memberChanges: count, members: first, slots: slotDifference(...pair) }]
}

function headOf(part: 'listener' | 'pool', [was, is]: Pair<{ readonly id: string }>, sides: Pair<Planned>) {
  const change = was === null ? 'added' : is === null ? 'removed' : 'changed'
  return { part, ...shownPart(sides, `${part}s`, (is ?? was)!.id), change } as const
}

/** Words of the fields that differ; none where one of the two is absent. */
function changedFields<T extends object>(words: Readonly<Record<string, string>>, [was, is]: Pair<T>): string[] {
  if (was === null || is === null) return []
  const fields = Object.keys(words).filter((field) => !sameJson(was[field as keyof T], is[field as keyof T]))
  return [...new Set(fields.map((field) => words[field]!))]
}

/** A member before and after; one of them is there. */
type MemberPair = readonly [had: NodeMember | undefined, has: NodeMember | undefined]

function memberDifferences(
  pair: Pair<NodePool>,
  [before, after]: Pair<Planned>,
): { readonly count: number; readonly first: MemberDifference[] } {
  const changed = changedMembers(pair)
  const shown = changed.slice(0, MOST_SHOWN)
  if (shown.length === 0) return { count: 0, first: [] }
  const documents = [before, after].flatMap((side) => side?.loadBalancer ?? [])
  const ids = new Set(shown.flatMap((members) => members.flatMap((member) => member?.id ?? [])))
  const names = memberNames(documents, (pair[1] ?? pair[0])!.id, ids)
  return {
    count: changed.length,
    first: shown.map(([had, has]) => ({
      ...shownMember((has ?? had)!, names),
      change: had === undefined ? 'added' : has === undefined ? 'removed' : 'changed',
      weight: { before: had?.weight ?? null, after: has?.weight ?? null },
    })),
  }
}

/** Members keep their places in a pool, so most are compared without looking for them. */
function changedMembers([was, is]: Pair<NodePool>): readonly MemberPair[] {
  const [old, now] = [was?.members ?? [], is?.members ?? []]
  const changed: MemberPair[] = []
  const [gone, come] = [new Map<string, NodeMember>(), new Map<string, NodeMember>()]
  for (let at = 0; at < Math.max(old.length, now.length); at++) {
    const [had, has] = [old[at] ?? null, now[at] ?? null]
    if (had === has) continue
    if (had !== null && has !== null && had.address === has.address && had.port === has.port) {
      if (differ(had, has)) changed.push([had, has])
      continue
    }
    if (had !== null) gone.set(`${had.address} ${had.port}`, had)
    if (has !== null) come.set(`${has.address} ${has.port}`, has)
  }
  for (const [end, has] of come) {
    const had = gone.get(end)
    gone.delete(end)
    if (had === undefined || differ(had, has)) changed.push([had, has])
  }
  for (const had of gone.values()) changed.push([had, undefined])
  return changed
}

/** A member that was made again under another id is the same to nodes. */
const differ = (had: NodeMember, has: NodeMember): boolean =>
  had.weight !== has.weight ||
  had.backup !== has.backup ||
  had.checkAddress !== has.checkAddress ||
  had.checkPort !== has.checkPort
