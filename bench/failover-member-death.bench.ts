/**
 * One of two members dies by kill -9 while clients open a connection for each request. When does the last request fail?
 * With checks every 200 ms and every second, by the packet path and by the proxy. Beside: a hand-written haproxy.cfg with
 * the same checks. Every run kills once for all of them.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { callApi, type Lab, memberAddress, must, waitFor } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { addPeerDomain } from './bed/peer-domain.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { FaultMaker } from './failover/faults.ts'
import { EchoMembers, MEMBER_PORTS } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { RUNS } from './failover/settings.ts'
import { distribution } from './percentile.ts'

const INTERVALS_MS = [200, 1000] as const
const GOAL_EXTRA_MS = 50
const NODE = 'node1'
const SEGMENT = 'tenant-b'
const PEER = '192.0.2.4'
const CLIENTS = ['2', '3000'] as const

interface Way {
  readonly name: string
  readonly ours: boolean
  readonly intervalMs: number
  readonly address: string
  readonly port: number
}

interface Shown {
  readonly id: string
  readonly vips: readonly { readonly address: string }[]
  readonly status: {
    readonly provisioning: string
    readonly members: Readonly<Record<string, { readonly health: string }>>
  }
}

const shown = ({ access, snat }: SpoutBed, id: string): Promise<Shown> =>
  callApi<Shown>(access.endpoint, snat.token, 'GET', `/load-balancers/${id}`)

/** Both pools have the same two members. */
const areUp = ({ status }: Shown, count: number): boolean => {
  const members = Object.values(status.members)
  return members.length === 4 && members.filter(({ health }) => health === 'up').length === 2 * count
}

/** Waits until every check has found so many members up. */
const membersUp = async (bed: SpoutBed, ids: readonly string[], count: number): Promise<void> => {
  for (const id of ids)
    await waitFor(async () => areUp(await shown(bed, id), count), {
      what: `${count} members of ${id} to be up`,
    })
}

async function ourWays(bed: SpoutBed): Promise<{ readonly ids: readonly string[]; readonly ways: readonly Way[] }> {
  const { access, snat, publicPoolId } = bed
  const ids: string[] = []
  const ways: Way[] = []
  for (const intervalMs of INTERVALS_MS) {
    const protocols = ['tcp', 'http'] as const
    const body = {
      name: `death-${intervalMs}`,
      vips: [{ from: 'pool', poolId: publicPoolId }],
      listeners: protocols.map((protocol, n) => ({ name: protocol, protocol, port: 80 + n, defaultPool: protocol })),
      pools: protocols.map((protocol) => ({
        name: protocol,
        protocol,
        members: [0, 1].map((index) => ({ address: memberAddress(index), port: MEMBER_PORTS.http })),
        monitor: { type: 'tcp', intervalMs, timeoutMs: intervalMs, rise: 1, fall: 1 },
      })),
    }
    const { id } = await callApi<Shown>(access.endpoint, snat.token, 'POST', '/load-balancers', body)
    await waitFor(async () => (await shown(bed, id)).status.provisioning === 'active', { what: `${body.name}` })
    const address = (await shown(bed, id)).vips[0]?.address ?? ''
    ids.push(id)
    for (const [n, kind] of ['packet path', 'proxy'].entries())
      ways.push({ name: `Spout, ${kind}, ${intervalMs} ms`, ours: true, intervalMs, address, port: 80 + n })
  }
  return { ids, ways }
}

async function peerWays(lab: Lab): Promise<readonly Way[]> {
  const domain = { name: 'proxy', node: NODE, segment: SEGMENT, index: 4, destination: PEER }
  const { namespace } = await addPeerDomain(lab, domain)
  await must(['ip', '-n', namespace, 'address', 'add', `${PEER}/32`, 'dev', 'lo'])
  const ways = INTERVALS_MS.flatMap((intervalMs, i) =>
    (['tcp', 'http'] as const).map((mode, m) => ({ intervalMs, mode, port: 80 + 2 * i + m })),
  )
  const config = [
    'defaults',
    '  timeout connect 1s',
    '  timeout client 50s',
    '  timeout server 50s',
    ...ways.flatMap(({ intervalMs, mode, port }) => [
      `listen l${port}`,
      `  mode ${mode}`,
      `  bind ${PEER}:${port}`,
      '  balance roundrobin',
      ...[0, 1].map(
        (n) => `  server m${n} ${memberAddress(n)}:${MEMBER_PORTS.http} check inter ${intervalMs}ms rise 1 fall 1`,
      ),
    ]),
  ]
  const file = path.join(lab.directory, 'peer.cfg')
  writeFileSync(file, `${config.join('\n')}\n`)
  await lab.start('proxy', 'peer-haproxy', ['haproxy', '-db', '-f', file])
  return ways.map(({ intervalMs, mode, port }) => {
    return { name: `haproxy ${mode}, ${intervalMs} ms`, ours: false, intervalMs, address: PEER, port }
  })
}

await withSpout({ members: false }, async (bed) => {
  const { lab } = bed
  await using faults = await FaultMaker.start(lab)
  await using _stays = await EchoMembers.start(lab, [`${SEGMENT}-member1`])
  let dying = await EchoMembers.start(lab, [`${SEGMENT}-member2`])
  const { ids, ways: ours } = await ourWays(bed)
  const ways = [...ours, ...(await peerWays(lab))]
  const binary = await compile(lab, 'new-connections')
  const clients = ways.map(
    ({ address, port }) => new LineProgram(lab, 'client', [binary, address, String(port), ...CLIENTS]),
  )
  const lastFailed = ways.map((): number[] => [])
  const failures = ways.map(() => 0)
  const slowest = ways.map(() => 0)
  /** Of each way's latest failure: why, how long the request took, and who was up by its API then. */
  const latest = ways.map(() => 'none')
  try {
    for (let run = 0; run < RUNS; run++) {
      await membersUp(bed, ids, 2)
      // The peer's slowest check has found it as well; and at no fixed distance from a check.
      await new Promise((resolve) => setTimeout(resolve, 1100 + Math.random() * 1000))
      await Promise.all(clients.map((client) => client.ask('begin')))
      const since = await faults.kill(dying.pids)
      const killedMs = performance.now()
      await membersUp(bed, ids, 1)
      const knownMs = Math.round(performance.now() - killedMs)
      await new Promise((resolve) => setTimeout(resolve, 2300))
      for (const [n, client] of clients.entries()) {
        const words = (await client.ask(`end ${since}`)).split(' ')
        const [, failed = 0, lastMs = 0, slowestMs = 0] = words.map(Number)
        if (lastMs > Math.max(0, ...lastFailed[n]!))
          latest[n] = `${lastMs} ms: ${words[4]} after ${words[5]} ms, run ${run}, API knew after ${knownMs} ms`
        lastFailed[n]?.push(Math.max(0, lastMs))
        failures[n]! += failed
        slowest[n] = Math.max(slowest[n] ?? 0, slowestMs)
      }
      await dying[Symbol.asyncDispose]()
      dying = await EchoMembers.start(lab, [`${SEGMENT}-member2`])
    }
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]()
    await dying[Symbol.asyncDispose]()
  }
  const results = ways.map((way, n) => ({ ...way, ...distribution(lastFailed[n] ?? []) }))
  const late = (wanted: boolean) =>
    Math.max(...results.filter((one) => one.ours === wanted).map(({ max, intervalMs }) => max - intervalMs))
  finish({
    name: 'member-death',
    ours: { worstBeyondIntervalMs: late(true) },
    peer: { worstBeyondIntervalMs: late(false) },
    comparedWith: 'a hand-written haproxy.cfg with the same checks, in TCP and in HTTP mode',
    ratio: null,
    goal: `the last failed request begins <= 1 interval + ${GOAL_EXTRA_MS} ms after the kill`,
    pass: late(true) <= GOAL_EXTRA_MS,
    detail: {
      runs: RUNS,
      ...Object.fromEntries(
        ways.flatMap(({ name }, n) => [
          [`failed and slowest ms: ${name}`, `${failures[n]} ${slowest[n]}`],
          [`latest failure: ${name}`, latest[n]],
        ]),
      ),
    },
    distributions: Object.fromEntries(ways.map(({ name }, n) => [name, distribution(lastFailed[n] ?? [])])),
  })
})
