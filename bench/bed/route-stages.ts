import { randomUUID } from 'node:crypto'
import {
  type Edit,
  edited,
  editsBetween,
  type HashedParts,
  type HttpRoute,
  hashEntry,
  type LoadBalancerEntry,
} from '@spout/model'
import { knownNodeRoutes, type PlannedNode, planLoadBalancer } from '@spout/plan'
import { draftOf, listenerOf, memberOf, openOffice, poolOf } from '../../packages/admission/src/testing/office.ts'
import { isTlsCommand } from '../../packages/dataplane/src/drivers/haproxy/certificates/tls-command.ts'
import { commandText } from '../../packages/dataplane/src/drivers/haproxy/commands/command.ts'
import { planChanges } from '../../packages/dataplane/src/drivers/haproxy/commands/plan-changes.ts'
import { initialSlots, slotTables } from '../../packages/dataplane/src/drivers/haproxy/processes/proxy-slots.ts'
import {
  contentOf,
  NOTHING_PLACED,
  type PlacedEntry,
  type PlacedRows,
  placeEntry,
} from '../../packages/dataplane/src/drivers/haproxy/rendering/content.ts'
import { renderEntry } from '../../packages/dataplane/src/drivers/haproxy/rendering/render.ts'
import { KnownRoutes } from '../../packages/dataplane/src/drivers/haproxy/routes/known-routes.ts'
import { DEFAULT_OPTIONS } from '../../packages/dataplane/src/drivers/haproxy/sections/options.ts'
import { sampleWanted } from '../../packages/dataplane/src/testing/haproxy/sample-entry.ts'
import { percentile } from '../percentile.ts'

const FILES: Parameters<typeof commandText>[1] = {
  map: (map) => `/run/${map}.map`,
  tls: { certificate: (contentId) => `/run/${contentId}.pem` },
}

/** The stages of a change, in their order: the write, then the control plane, then the node. */
export const STAGES = ['admission', 'plan', 'hash', 'send', 'receive', 'render', 'commands'] as const
export const BEHIND_THE_WRITE = STAGES.slice(1)
type Stage = (typeof STAGES)[number]
/** Processor time of each stage in ms, medians. */
export type StageTimes = Readonly<Record<Stage, number>>

const routeTo = (poolId: string, host: string): HttpRoute => ({
  ...{
    id: randomUUID(),
    name: host,
    description: '',
    tags: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: null,
  },
  enabled: true,
  conditions: [{ on: 'host', compare: 'exact', values: [host], not: false }],
  action: { type: 'forward', pools: [{ poolId, weight: 1 }] },
})

/**
 * Adds routes to a listener that has many, one after the other, in this process alone.
 * @param from `before`: each stage knows the version before. `scratch`: it has the same version as new objects, and
 * knows nothing of it, as after a start
 */
export async function routeStages(from: 'before' | 'scratch', routes: number, changes: number): Promise<StageTimes> {
  await using stack = new AsyncDisposableStack()
  const office = stack.adopt(await openOffice(), ({ close }) => close())
  const { project, network, pool: addresses } = office
  await office.admission.setQuota(project.id, { routes: 1_000_000, bytes: 1_000_000_000 })
  const pool = poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.11')], { protocol: 'http' })
  const all = Array.from({ length: routes }, (_, n) => routeTo(pool.id, `host-${n}.example.com`))
  const listener = listenerOf(randomUUID(), 80, { protocol: 'http', routes: all })
  const vip = { from: 'pool', poolId: addresses.id, address: null } as const
  const { id } = await office.admission.createLoadBalancer(
    draftOf(project.id, [vip], { listeners: [listener], pools: [pool] }),
  )
  const nodeRoutes = knownNodeRoutes()
  const known = new KnownRoutes()
  const slots = slotTables(initialSlots(), DEFAULT_OPTIONS)
  const took = new Map(STAGES.map((stage) => [stage, [] as number[]]))
  const timed = async <T>(stage: Stage, work: () => T | Promise<T>): Promise<T> => {
    const before = process.cpuUsage()
    const done = await work()
    const { user, system } = process.cpuUsage(before)
    took.get(stage)?.push((user + system) / 1000)
    return done
  }
  let hashedBefore: HashedParts | undefined
  let plannedBefore: LoadBalancerEntry | null = null
  let heldBefore: LoadBalancerEntry | undefined
  let placedBefore: PlacedEntry | undefined
  for (let turn = 0; turn <= changes; turn++) {
    const isNew = from === 'scratch' || turn === 0
    const add = routeTo(pool.id, `new-${turn}.example.com`)
    const loadBalancer = await timed('admission', () =>
      office.admission.changeLoadBalancer(id, ({ listeners: [current] }) => {
        const now = { ...current!, routes: turn % 2 === 0 ? [...current!.routes, add] : [add, ...current!.routes] }
        return { listeners: [from === 'before' ? now : structuredClone(now)] }
      }),
    )
    const { entries } = await timed('plan', () =>
      planLoadBalancer({
        ...{
          loadBalancer,
          network,
          group: { name: 'bench', nodes: [NODE] },
          announcing: { via: 'l2' },
          previous: null,
        },
        ...(from === 'before' ? { nodeRoutes, entryBefore: plannedBefore } : {}),
        ...{ gatewayOwnerIds: [], freePoolNumber: () => 1, connectionLimit: null, certificateOf: () => null, now: NOW },
      }),
    )
    const planned = entries.get(NODE.id)!
    const hashed = await timed('hash', () => hashEntry(planned, isNew ? undefined : hashedBefore))
    const sentBefore = hashedBefore?.entry
    const line = await timed('send', () => JSON.stringify(isNew ? planned : editsBetween(sentBefore, planned)))
    const held = await timed('receive', () => {
      const read: unknown = JSON.parse(line)
      return (isNew ? read : edited(heldBefore, read as readonly Edit[])) as LoadBalancerEntry
    })
    const rendered = await timed('render', () =>
      renderEntry(sampleWanted(held), (...given) => (from === 'before' ? known : new KnownRoutes()).render(...given)),
    )
    const before = placedBefore
    const content = contentOf(before === undefined ? [] : [before])
    const settled = new Map(isNew ? [] : rowsOf(before))
    placedBefore = await timed('commands', () => {
      const placed = placeEntry(rendered, slots)
      const { raise, turn: turned, lower } = planChanges(content, before ?? NOTHING_PLACED, placed, settled)
      for (const command of [...raise, ...turned, ...lower]) if (!isTlsCommand(command)) commandText(command, FILES)
      return placed
    })
    plannedBefore = planned
    hashedBefore = hashed
    heldBefore = held
  }
  // The first is that of a start.
  return Object.fromEntries(STAGES.map((stage) => [stage, percentile(took.get(stage)!.slice(1), 0.5)])) as StageTimes
}

const NOW = '2026-01-01T00:00:00.000Z'
const NODE: PlannedNode = {
  ...{ id: 'node-1', name: 'node-1', scheduling: 'enabled', connection: 'connected', loadBalancers: 0 },
  features: ['l7.http', 'l7.routes'],
}

const rowsOf = (placed: PlacedEntry | undefined): readonly (readonly [number, PlacedRows])[] =>
  placed?.frontends.flatMap(({ slot, rows }) => (rows === undefined ? [] : [[slot, rows] as const])) ?? []
