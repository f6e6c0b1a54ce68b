import type { LoadBalancerAdmission, LoadBalancerChange } from '@spout/admission/contract'
import { type AddressPool, KINDS, type Kind, type LoadBalancer, type Pool, type Project } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { byLength } from '@spout/testkit/long-tests'
import { listenerOf, memberOf, poolOf } from '@spout/testkit/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { node, nodeGroup, uuid, vrrpGroup } from '../testing/model.ts'

const NODES = [uuid('node', 1), uuid('node', 2)]
const ID = uuid('lb', 1)

interface Place {
  readonly plane: ControlPlane
  readonly project: Project
  readonly addresses: AddressPool
}

/** A project with a network and public addresses, in a group of two nodes. */
async function opened(
  group: typeof nodeGroup | typeof vrrpGroup,
  returnPath: 'snat' | 'gateway' | 'dsr',
): Promise<Place> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', group(1)], ['node', node(1)], ['node', node(2)])
  const { admission } = plane
  const project = await admission.createProject({ name: 'own', description: '' })
  const addresses = await admission.createAddressPool({
    ...{ name: 'public', description: '', ranges: [{ first: '192.0.2.10', last: '192.0.2.20' }] },
    ...{ cidr: '192.0.2.0/24', gatewayIp: '192.0.2.1', projectIds: null, quarantineSeconds: 60 },
  })
  const segment = { physicalNetwork: 'physnet1', vlan: null }
  const { id } = await admission.createNetwork({
    projectId: project.id,
    name: 'n',
    description: '',
    returnPath,
    segment,
  })
  await admission.addSubnet(id, {
    name: '',
    description: '',
    cidr: '10.0.0.0/24',
    gatewayIp: '10.0.0.1',
    nodeRange: null,
  })
  await plane.idle()
  for (const nodeId of NODES) await plane.report(nodeId, { features: [...FEATURES] })
  return { plane, project, addresses }
}
const FEATURES = ['l4.tcp', 'l4.udp', 'l7.http', 'l7.tcp-proxy', 'dsr'] as const

const shape = (protocols: readonly Pool['protocol'][]) =>
  fc.record({
    protocol: fc.constantFrom(...protocols),
    enabled: fc.boolean(),
    members: fc.uniqueArray(fc.integer({ min: 30, max: 36 }), { maxLength: 5 }),
    weight: fc.integer({ min: 0, max: 3 }),
    port: fc.constantFrom(80, 81),
    drainSeconds: fc.constantFrom(0, 300),
    listeners: fc.integer({ min: 0, max: 2 }),
  })
type Drawn = ReturnType<typeof shape> extends fc.Arbitrary<infer T> ? T : never

const contentOf = ({ protocol, enabled, members, weight, port, drainSeconds, listeners }: Drawn) => ({
  enabled,
  pools: [
    poolOf(
      uuid('pool', 1),
      members.map((end, at) => memberOf(uuid('member', end), `10.0.0.${end}`, port, { weight: at === 0 ? weight : 1 })),
      { protocol, drainSeconds },
    ),
  ],
  listeners: Array.from({ length: listeners }, (_, at) =>
    listenerOf(uuid('listener', at), port + 10 * at, { protocol: protocol as 'tcp', defaultPoolId: uuid('pool', 1) }),
  ),
})

const step = (protocols: readonly Pool['protocol'][]) =>
  fc.oneof(
    { weight: 5, arbitrary: shape(protocols).map((drawn) => ({ do: 'write', drawn }) as const) },
    { weight: 1, arbitrary: fc.constant({ do: 'delete' } as const) },
  )
type Step = ReturnType<typeof step> extends fc.Arbitrary<infer T> ? T : never

/** The write of a step, with a real admission or one of a dry run. */
const writing =
  ({ plane, project, addresses }: Place, made: Step) =>
  async (admission: LoadBalancerAdmission): Promise<unknown> => {
    if (made.do === 'delete') return admission.deleteLoadBalancer(ID, { cascade: true })
    const content = contentOf(made.drawn)
    if (plane.view.get('loadBalancer', ID) !== null)
      return admission.changeLoadBalancer(ID, (): LoadBalancerChange => content)
    return admission.createLoadBalancer({
      ...{ id: ID, projectId: project.id, name: 'web', description: '', tags: [], annotations: {}, nodeGroupId: null },
      ...{ vips: [{ from: 'pool', poolId: addresses.id, address: null }], ...content },
    })
  }

/** Everything that is stored. */
const stored = async ({ store }: ControlPlane): Promise<string> =>
  JSON.stringify([
    await store.revision(),
    ...(await Promise.all((Object.keys(KINDS) as Kind[]).map(async (kind) => (await store.list(kind)).items))),
  ])

const published = (plane: ControlPlane) => NODES.map((nodeId) => plane.entry(nodeId, `lb/${ID}`))

/** Ids of addresses are drawn anew for each write. */
const withoutIds = (one: LoadBalancer | null) =>
  one && { ...one, vips: one.vips.map(({ addressId: _, ...vip }) => vip) }

/** Refused: why. Else what the object is afterwards. */
async function outcomeOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly field: unknown } | null> {
  return work.then(
    () => null,
    (error: { readonly code: string; readonly field?: string }) => ({ code: error.code, field: error.field }),
  )
}

const GROUPS = [
  ['an owner', nodeGroup],
  ['shards', vrrpGroup],
] as const
const PATHS = [
  ['snat', ['tcp', 'udp', 'http']],
  ['gateway', ['tcp', 'http']],
  ['dsr', ['tcp', 'udp']],
] as const

for (const [how, group] of GROUPS)
  for (const [returnPath, protocols] of PATHS)
    test(`a preview stores nothing, and what is applied is what it said (${how}, ${returnPath})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step([...protocols]), { minLength: 1, maxLength: 6 }), async (steps) => {
          const place = await opened(group, returnPath)
          const { plane } = place
          const { admission, view, plans } = plane
          for (const made of steps) {
            const id = view.get('loadBalancer', ID) === null && made.do === 'write' ? null : ID
            const [before, entriesBefore] = [await stored(plane), published(plane)]
            const usage = admission.quotaOf(place.project.id).used
            const dry = await admission.dryRun(id, writing(place, made)).catch((error: unknown) => error as Error)
            const difference = dry instanceof Error ? null : plans.forecast(dry.before, dry.after)
            await plane.idle()
            expect(await stored(plane)).toBe(before)
            expect(admission.quotaOf(place.project.id).used).toEqual(usage)
            expect(published(plane)).toEqual(entriesBefore)

            const refusal = await outcomeOf(writing(place, made)(admission))
            await plane.idle()
            if (dry instanceof Error || difference === null) {
              expect(refusal).toEqual(await outcomeOf(Promise.reject(dry)))
              continue
            }
            expect(refusal).toBeNull()
            const now = view.get('loadBalancer', ID)?.value ?? null
            expect(withoutIds(dry.after)).toEqual(withoutIds(now))
            const address = now?.vips[0]?.address ?? dry.before?.vips[0]?.address
            const changes = id === null ? ['taken'] : made.do === 'delete' ? ['released'] : []
            expect(dry.addresses.map((one) => [one.address, one.change])).toEqual(
              changes.map((each) => [address, each]),
            )

            const entries = published(plane)
            for (const [at, nodeId] of NODES.entries()) {
              const said = difference.nodes.find((one) => one.nodeId === nodeId)
              const [had, has] = [entriesBefore[at] ?? null, entries[at] ?? null]
              const change =
                had === null ? (has === null ? undefined : 'added') : has === null ? 'removed' : said?.change
              expect(said?.change).toBe(change)
              expect(said?.announces.after ?? false).toBe(
                has?.kind === 'load-balancer' && has.vips.some((vip) => vip.announce),
              )
              if (said?.change === 'unchanged') expect({ ...has, generation: 0 }).toEqual({ ...had, generation: 0 })
              if (said?.change === 'changed') expect({ ...has, generation: 0 }).not.toEqual({ ...had, generation: 0 })
            }
            if (now !== null)
              expect(plans.forecast(now, now).nodes.every(({ change }) => change === 'unchanged')).toBe(true)
            const placement = view.get('placement', ID)?.value
            expect(difference.shard.after).toBe(placement?.shard?.number ?? null)
          }
          await plane.stop()
        }),
        { numRuns: byLength(6, 200) },
      )
    })
