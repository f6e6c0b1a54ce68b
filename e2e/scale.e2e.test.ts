import { readFileSync } from 'node:fs'
import {
  byLength,
  callApi,
  createPublicPool,
  createTenant,
  Lab,
  msSince,
  recordFault,
  type SystemAccess,
  startControlPlane,
  type Tenant,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { BOLT } from './fixtures.ts'
import { startAgents } from './scale/agents.ts'
import { type BurstTenant, burst, createBurstTenant, isThere } from './scale/burst.ts'
import { type OwnWrites, writeAndRead } from './scale/own-writes.ts'

/** Enrolling 1,000 agents takes minutes on a busy machine, as openssl runs twice for each. */
const GROUPS = byLength(5, 50)
const ALL_AGENTS = '1,000 agents'
const PER_GROUP = 20
const AGENTS = GROUPS * PER_GROUP
const BALANCERS = GROUPS
const WRITERS = 4
const BURST = { tenants: 50, changesOfMember: byLength(25, 100), calmRequests: 150 } as const
/** Other tests cover lost nodes: here one machine plays all of them, and may be slower than any silence. */
const SET = ['liveness.moveAfterMs=300000']
// Its memory is that of an installation, where the sources run.
process.env['SPOUT_PROGRAMS'] = 'sources'

let lab: Lab
let access: SystemAccess
let tenant: Tenant
let poolId: string
let agents: Awaited<ReturnType<typeof startAgents>>
let balancers: readonly string[]
const groupIds: string[] = []

const asAdmin = <T>(method: string, path: string, body?: unknown) =>
  callApi<T>(access.endpoint, access.admin.token, method, path, body)

beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab, { set: SET })
  poolId = (await createPublicPool(access)).id
  tenant = await createTenant(access, BOLT)
  // Every node has an address in every subnet.
  const segment = { physicalNetwork: 'tenant-a', vlan: null }
  const wide = { name: 'wide', projectId: tenant.projectId, returnPath: 'snat', segment }
  const network = await asAdmin<{ id: string }>('POST', '/networks', wide)
  await asAdmin('DELETE', `/networks/${tenant.networkId}`)
  await asAdmin('POST', `/networks/${network.id}/subnets`, { cidr: '10.64.0.0/16', gatewayIp: null })
  for (let group = 0; group < GROUPS; group++)
    groupIds.push(
      (
        await asAdmin<{ id: string }>('POST', '/node-groups', {
          name: `scale-${group}`,
          announcer: 'l2',
          projectIds: null,
        })
      ).id,
    )
  agents = await startAgents(lab, access, { groupIds, perGroup: PER_GROUP })
  const made: string[] = []
  for (let index = 0; index < BALANCERS; index++) {
    const members = [{ address: `10.64.0.${1 + index}`, port: 80 }]
    const body = {
      ...{ name: `lb-${index}`, projectId: tenant.projectId, nodeGroupId: groupIds[index % GROUPS] },
      vips: [{ from: 'pool', poolId }],
      listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
      pools: [{ name: 'p', protocol: 'tcp', members }],
    }
    made.push((await asAdmin<{ id: string }>('POST', '/load-balancers', body)).id)
  }
  balancers = made
  await allInSync()
}, 1_500_000)

afterAll(() => lab?.destroy())
vi.setConfig({ testTimeout: 600_000 })

interface Listed {
  readonly items: readonly { readonly status: { readonly connection: string; readonly inSync: boolean } }[]
}

/** Every agent reports, and every load balancer is confirmed. */
const allInSync = () =>
  waitFor(
    async () => {
      const { items } = await asAdmin<Listed>('GET', '/nodes')
      const there = items.filter(({ status }) => status.connection === 'connected' && status.inSync)
      return there.length === AGENTS && (await provisioning()).every((state) => state === 'active')
    },
    { what: `${AGENTS} agents to be in sync`, timeoutMs: 180_000, everyMs: 100 },
  )

const provisioning = async (): Promise<readonly string[]> => {
  const { items } = await asAdmin<{ items: readonly { id: string; status: { provisioning: string } }[] }>(
    'GET',
    '/load-balancers',
  )
  return items.filter(({ id }) => balancers.includes(id)).map(({ status }) => status.provisioning)
}

/** Resident memory of the control plane now, and its peak, in MB. */
function memory(): { readonly now: number; readonly most: number } {
  const text = readFileSync(`/proc/${lab.process('control-plane')!.pid}/status`, 'utf8')
  const of = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024)
  return { now: of('VmRSS'), most: of('VmHWM') }
}

/** Reads one load balancer after the other; records the milliseconds of each answer, and failures. */
function askingTheApi(pauseMs = 0, method: 'GET' | 'PATCH' = 'GET') {
  let stopped = false
  const took: number[] = []
  const failed: string[] = []
  const running = (async () => {
    for (let asked = 0; !stopped; asked++) {
      const began = performance.now()
      const body = method === 'GET' ? undefined : { description: `asked ${asked}` }
      await asAdmin(method, `/load-balancers/${balancers[asked % BALANCERS]}`, body).catch((error: Error) =>
        failed.push(error.message),
      )
      took.push(performance.now() - began)
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })()
  const stop = async () => {
    stopped = true
    await running
    const sorted = took.toSorted((a, b) => a - b)
    const at = (share: number) => `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`
    return { count: took.length, failed, p50: at(0.5), p99: at(0.99) }
  }
  return Object.assign(stop, { asked: () => took.length })
}

const writers = async (name: string, isOver: (round: number) => boolean): Promise<OwnWrites> => {
  const around = { endpoint: access.endpoint, who: tenant, poolId }
  const all = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) => writeAndRead(around, `${name}-${at}`, isOver)),
  )
  return {
    writes: all.reduce((sum, { writes }) => sum + writes, 0),
    reads: all.reduce((sum, { reads }) => sum + reads, 0),
    stale: all.flatMap(({ stale }) => stale),
  }
}

describe(`${AGENTS} agents`, () => {
  it('F17: come back at once to a control plane that was killed, and nothing is done anew on any node', async () => {
    const before = memory()
    await agents.count()
    await lab.stop(lab.process('control-plane')!, 'SIGKILL')
    await startControlPlane(lab, { port: Number(new URL(access.endpoint).port), set: SET })
    const began = performance.now()
    const stop = askingTheApi()
    await allInSync()
    const took = msSince(began)
    const api = await stop()
    const { connections, changes, some } = await agents.count()
    const after = memory()
    expect(api.failed).toEqual([])
    expect({ changes, some }).toEqual({ changes: 0, some: [] })
    // A refused agent waits before its next attempt, so none floods the control plane.
    expect(connections).toBeLessThan(AGENTS * 12)
    recordFault({
      fault: `control plane: killed, ${AGENTS} agents come back at once (F17)`,
      outcome: 'all in sync again, nothing is changed on any node, the API answers meanwhile',
      whole: ALL_AGENTS,
      figure: `in sync ${took} after it listened, ${(connections / AGENTS).toFixed(1)} attempts an agent; API p50 ${api.p50}, p99 ${api.p99} of ${api.count}; memory ${before.now} MB before, at most ${after.most} MB after`,
    })
  })

  it('F20: a client reads its own writes, also while all of them come back', async () => {
    const calm = await writers('calm', (round) => round >= 25)
    expect(calm.stale).toEqual([])
    await lab.stop(lab.process('control-plane')!, 'SIGKILL')
    await startControlPlane(lab, { port: Number(new URL(access.endpoint).port), set: SET })
    let over = false
    const back = allInSync().finally(() => {
      over = true
    })
    const [{ stale, writes, reads }] = await Promise.all([writers('busy', (round) => over && round >= 10), back])
    expect(stale).toEqual([])
    recordFault({
      fault: 'control plane: a client reads right after it wrote (F20)',
      outcome: 'every read shows the write: object, lists, watch from before it, Octavia API',
      whole: ALL_AGENTS,
      figure: `0 of ${calm.reads} reads stale after ${calm.writes} writes; 0 of ${reads} after ${writes} while ${AGENTS} agents came back`,
    })
  })

  it('F18: a burst of changes of 50 tenants at once is kept whole, reaches the nodes, and slows others a little', async () => {
    const pair = { name: 'pair', announcer: 'l2', projectIds: null }
    const { id: nodeGroupId } = await asAdmin<{ id: string }>('POST', '/node-groups', pair)
    await startAgents(lab, access, { name: 'pair', groupIds: [nodeGroupId], perGroup: 2 })
    const tenants: BurstTenant[] = []
    // One after the other: too many passwords of one user at once would be refused.
    for (let number = 0; number < BURST.tenants; number++)
      tenants.push(await createBurstTenant(access, { number, poolId, nodeGroupId }))
    const allThere = async () => (await Promise.all(tenants.map((one) => isThere(access, one)))).every(Boolean)
    await waitFor(allThere, { what: 'all to be there', timeoutMs: 60_000, everyMs: 100 })
    const asking = () => [askingTheApi(10), askingTheApi(10, 'PATCH')] as const
    const stopped = ([reads, writes]: ReturnType<typeof asking>) => Promise.all([reads(), writes()])
    const ofCalm = asking()
    const isAsked = () => ofCalm.every(({ asked }) => asked() >= BURST.calmRequests)
    await waitFor(isAsked, { what: 'the API to be asked', timeoutMs: 60_000 })
    const calm = await stopped(ofCalm)
    const others = asking()
    const began = performance.now()
    const lost = (await Promise.all(tenants.map((one) => burst(access, one, BURST.changesOfMember)))).flat()
    const written = msSince(began)
    const answered = performance.now()
    const other = await stopped(others)
    await waitFor(allThere, { what: 'all changes to be on the nodes', timeoutMs: 60_000, everyMs: 20 })
    expect(lost).toEqual([])
    expect(other.flatMap(({ failed }) => failed)).toEqual([])
    const compared = ['reads', 'writes'].map((name, at) => {
      const [before, during] = [calm[at]!, other[at]!]
      return `${name} p50 ${before.p50} and p99 ${before.p99} before, ${during.p50} and ${during.p99} (${during.count}) meanwhile`
    })
    recordFault({
      fault: `${BURST.tenants * BURST.changesOfMember * 2} changes of ${BURST.tenants} tenants in one burst (F18)`,
      outcome: 'no change is lost, the nodes have the last one, others are answered',
      whole: '10,000 changes',
      figure: `answered in ${written}, on the nodes ${msSince(answered)} later, 0 lost; another tenant's ${compared.join('; ')}`,
    })
  })
})
