/**
 * What a victim notices of a hostile neighbour: p99 of its requests while another tenant, or a stranger, attacks, over p99
 * just before. Windows without and with the attack take turns, and a ratio is the median of the turns' own ratios.
 * Attackers stand for other machines, and get what processor time Spout leaves (`OtherMachines`).
 */
import { FAST_PORTS, type Lab, memberAddress, startFastMember } from '@spout/testkit'
import { createHttps, issueNames, storeCertificates } from './bed/https.ts'
import { createTree, untilActive } from './bed/octavia.ts'
import { OtherMachines } from './bed/other-machines.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { apiAttacks } from './neighbour/api-attacks.ts'
import { type Attack, NOBODY } from './neighbour/attack.ts'
import { floodsOfBystander, flowsOfRouter } from './neighbour/bystander.ts'
import { checkAttack } from './neighbour/check-attack.ts'
import { type ProxyMemory, watchProxies } from './neighbour/proxy-memory.ts'
import { trafficAttacks } from './neighbour/traffic-attacks.ts'
import { apiVictim, trafficVictim, type Victim } from './neighbour/victim.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

/** Floods cost the attacker's proxy what the protocol allows. */
const GOAL = { data: 1.2, floods: 1.5, api: 2 } as const
const ROWS = { data: 'neighbour', floods: 'neighbour-floods', api: 'neighbour-api' } as const
const options = benchOptions()
const ROUNDS = options.quick ? 1 : 7
const SECONDS = options.quick ? 1 : 3
/** `SPOUT_BENCH_ATTACKS=syn-flood,api-logins` looks at a part. */
const only = (process.env['SPOUT_BENCH_ATTACKS'] ?? '').split(',').filter(Boolean)

/** Members of the victim are other machines too, and never kept waiting: what is measured is what the node does to it. */
const NEVER_WAITING = ['chrt', '--fifo', '1'] as const

interface Outcome {
  readonly attack: Attack
  /** By what was asked. */
  readonly ratios: Readonly<Record<string, number>>
  readonly worst: number
  readonly asked: number
  readonly failed: number
  readonly achieved: string
  /** Of the largest proxy: the attacked one. */
  readonly proxy: ProxyMemory
}

async function tryAttack(attack: Attack, victim: Victim, lab: Lab): Promise<Outcome> {
  const proxyMemory = await watchProxies(lab)
  const turns = new Map<string, number[]>()
  let [asked, failed, achieved] = [0, 0, '']
  for (let round = 0; round < ROUNDS; round++) {
    const before = await victim.measure(SECONDS)
    const running = await attack.begin()
    try {
      // Its beginning counts as little as its end: what is asked is how one lives beside it.
      await victim.measure(1)
      for (const [name, window] of await victim.measure(SECONDS)) {
        const ratio = window.p99Us / (before.get(name)?.p99Us ?? Number.NaN)
        turns.set(name, [...(turns.get(name) ?? []), ratio])
        asked += window.asked
        failed += window.failed
      }
    } finally {
      achieved = await running.end()
    }
  }
  const ratios = Object.fromEntries([...turns].map(([name, list]) => [name, median(list)]))
  const worst = Math.max(...Object.values(ratios))
  return { attack, ratios, worst, asked, failed, achieved, proxy: await proxyMemory() }
}

async function loadBalancer(
  bed: SpoutBed,
  tenant: SpoutBed['snat'],
  name: string,
  protocol: 'HTTP' | 'TCP' | 'UDP',
): Promise<{ readonly id: string; readonly address: string }> {
  const port = protocol === 'UDP' ? 9001 : FAST_PORTS.first
  const members = [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: port }))
  const tree = { name, networkId: bed.publicPoolId, protocol, members }
  const { id, vip_address: address } = await createTree(bed.access, tenant, tree)
  await untilActive(bed.access, tenant, id)
  return { id, address }
}

/** For the rows of traffic: how much the largest proxy had before the attack, and at most during it. */
const memoryText = (plane: keyof typeof ROWS, { beforeMb, peakMb }: ProxyMemory): string =>
  plane === 'api' ? '' : `, proxy ${beforeMb.toFixed(1)} MB before, ${peakMb.toFixed(1)} MB at most`

const outcomes: Outcome[] = []
using others = await OtherMachines.create()
await withSpout({ nodes: ['node1'], members: false }, async (bed) => {
  const { lab, access, gateway: attacker, snat: honest } = bed
  const members = { 'tenant-a': others.prefix, 'tenant-b': NEVER_WAITING }
  for (const [tenant, prefix] of Object.entries(members))
    for (const n of [1, 2]) await startFastMember(lab, `${tenant}-member${n}`, { prefix })
  const victims = {
    l4: await loadBalancer(bed, honest, 'victim-l4', 'TCP'),
    l7: await loadBalancer(bed, honest, 'victim-l7', 'HTTP'),
  }
  const targets = {
    tcp: await loadBalancer(bed, attacker, 'attacked-l4', 'TCP'),
    udp: await loadBalancer(bed, attacker, 'attacked-udp', 'UDP'),
    http: await loadBalancer(bed, attacker, 'attacked-l7', 'HTTP'),
    https: await createHttps(bed, attacker, await storeCertificates(bed, attacker, await issueNames(lab, 1))),
  }
  const attacks: readonly Attack[] = [
    NOBODY,
    ...(await floodsOfBystander(lab, others)),
    await flowsOfRouter(lab, others),
    ...(await trafficAttacks(lab, others, {
      tcp: targets.tcp.address,
      udp: targets.udp.address,
      http: targets.http.address,
      https: targets.https,
    })),
    checkAttack(access, attacker, bed.publicPoolId),
    ...apiAttacks(lab, others, access, attacker, targets.http.id),
  ].filter(({ name }) => only.length === 0 || only.includes(name))
  await using traffic = await trafficVictim(lab, { l4: victims.l4.address, l7: victims.l7.address })
  await using api = apiVictim(access, honest, victims.l7.id)
  for (const victim of [traffic, api]) await victim.measure(1)
  for (const attack of attacks) {
    const outcome = await tryAttack(attack, attack.plane === 'api' ? api : traffic, lab)
    outcomes.push(outcome)
    process.stderr.write(
      `${attack.name}: ${JSON.stringify(outcome.ratios)}, ${outcome.failed} of ${outcome.asked} failed; ${outcome.achieved}\n`,
    )
  }
})

for (const plane of ['data', 'floods', 'api'] as const) {
  const of = outcomes.filter(({ attack }) => attack.plane === plane)
  if (of.every(({ attack }) => attack.isControl)) continue
  const worst = Math.max(...of.filter(({ attack }) => !attack.isControl).map((outcome) => outcome.worst))
  const failed = of.reduce((sum, outcome) => sum + outcome.failed, 0)
  printRow(
    {
      name: ROWS[plane],
      ours: { worstP99Ratio: worst, failedRequests: failed },
      peer: null,
      comparedWith: 'itself without the neighbour, in turns',
      ratio: worst,
      goal: `p99 <= ${GOAL[plane]} of that without an attacker, 0 requests failed`,
      pass: worst <= GOAL[plane] && failed === 0,
      detail: {
        rounds: ROUNDS,
        seconds: SECONDS,
        ...Object.fromEntries(
          of.map(({ attack, ratios, failed: lost, asked, achieved, proxy }) => [
            attack.name,
            `${Object.entries(ratios)
              .map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`)
              .join(' ')}, ${lost} of ${asked} failed (${achieved})${memoryText(plane, proxy)}`,
          ]),
        ),
      },
    },
    options,
  )
}
