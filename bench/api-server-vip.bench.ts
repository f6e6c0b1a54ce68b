/**
 * Three masters with real API servers, whose agents alone balance their address by the settings of its page. An API
 * server dies by kill -9, or a whole master loses its power, the one that has the address or another: the longest time
 * in which no new connection of a client behind the router was answered.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { documented, Lab, Masters, type PlaceName, waitFor } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { FaultMaker } from './failover/faults.ts'
import { distribution } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 250
const ADDRESS = '198.51.100.16'
const METRICS = '127.0.0.1:9132'
const SETTINGS = `${documented('api-server-address.md', '\nlocal:\n')}metrics:\n  listen: ${METRICS}\n`
const EVERY_US = 10_000
/** Nothing fails any more once nothing has failed for so long; connections that hang fail within 2 s. */
const QUIET_MS = 2500
const LONGEST_MS = 120_000

const options = benchOptions()
const ROUNDS = options.quick ? 1 : 5

const API_SERVER = 'an API server, kill -9'
const HOLDER = 'the master with the address'
const DEATHS = [API_SERVER, HOLDER, 'another master'] as const
type Death = (typeof DEATHS)[number]

interface Outage {
  readonly gapMs: number
  /** From the death to the beginning of the last connection that failed; -1 if none did. */
  readonly lastFailedMs: number
  /** The longest that an answered connection took. */
  readonly slowestMs: number
  readonly stallMs: number
  readonly begun: number
  readonly failed: number
}

await using lab = await Lab.create()
const masters = await Masters.create(lab, { address: ADDRESS, agentSettings: SETTINGS })

/** Whether a master's agent has all API servers for up, and its address has an owner or a backup here. */
async function isWhole(name: PlaceName): Promise<boolean> {
  const text = await lab.must(name, ['curl', '--silent', `http://${METRICS}/metrics`]).catch(() => '')
  const value = (series: string) => Number(text.split(`\n${series} `)[1]?.split('\n')[0])
  const elects = value('spout_agent_shards{state="master"}') + value('spout_agent_shards{state="backup"}')
  return value('spout_agent_members{health="up"}') === masters.names.length && elects === 1
}

const allWhole = async (): Promise<void> => {
  const whole = async () => (await Promise.all(masters.names.map(isWhole))).every(Boolean)
  await waitFor(whole, { what: 'all masters to be up for all agents', timeoutMs: LONGEST_MS })
}

const holder = (): Promise<PlaceName> =>
  waitFor(
    async () => {
      const holders = await masters.holders()
      return holders.length === 1 && holders[0]
    },
    { what: 'one master to have the address', timeoutMs: LONGEST_MS },
  )

/** Who dies: each of them in turn, where there are several. */
async function victimOf(death: Death, round: number): Promise<PlaceName> {
  if (death === API_SERVER) return masters.names[round % masters.names.length]!
  const has = await holder()
  const others = masters.names.filter((name) => name !== has)
  return death === HOLDER ? has : others[round % others.length]!
}

async function kill(death: Death, victim: PlaceName): Promise<bigint> {
  if (death === API_SERVER) return faults.kill([masters.apiServerPid(victim)])
  return faults.powerOff({ ports: [masters.portOf(victim)], processes: () => masters.pidsOf(victim) })
}

async function revive(death: Death, victim: PlaceName): Promise<void> {
  if (death === API_SERVER) return masters.startApiServer(victim)
  await faults.mend('power off', { ports: [masters.portOf(victim)] })
  await masters.powerOff(victim)
  await masters.loseMemory(victim)
  await masters.powerOn(victim)
}

/** Kills one, and returns what a client saw of it. Everything runs again afterwards. */
async function outageOf(death: Death, round: number): Promise<Outage> {
  const victim = await victimOf(death, round)
  await clients.ask('begin')
  // At no fixed distance from an advert or a check.
  await pause(300 + Math.random() * 300)
  const since = await kill(death, victim)
  const isOver = async () => {
    const last = BigInt(await clients.ask('last'))
    return process.hrtime.bigint() - (last > since ? last : since) > BigInt(QUIET_MS) * 1_000_000n
  }
  await waitFor(isOver, { what: 'connections to succeed again', timeoutMs: LONGEST_MS })
  const seen = (await clients.ask(`end ${since}`)).split(' ').map(Number)
  const [begun = 0, failed = 0, gapMs = Number.NaN, lastFailedMs = -1, slowestMs = 0, stallMs = 0] = seen
  await revive(death, victim)
  await allWhole()
  return { begun, failed, gapMs, lastFailedMs, slowestMs, stallMs }
}

await masters.startEtcd()
await Promise.all(masters.names.map((name) => masters.startAgent(name)))
await Promise.all(masters.names.map((name) => masters.startApiServer(name)))
await allWhole()
await using faults = await FaultMaker.start(lab)
const program = await compile(lab, 'api-connections', ['ssl', 'crypto'])
await using clients = new LineProgram(lab, 'client', [program, ADDRESS, '6443', String(EVERY_US)])
await clients.next()

const outages = new Map<Death, Outage[]>(DEATHS.map((death) => [death, []]))
for (let round = 0; round < ROUNDS; round++)
  for (const death of DEATHS) outages.get(death)!.push(await outageOf(death, round))
const all = [...outages.values()].flat()
const most = (field: 'gapMs' | 'slowestMs' | 'stallMs') => Math.max(...all.map((one) => one[field]))
const longestGapMs = most('gapMs')
const sum = (field: 'begun' | 'failed') => all.reduce((total, one) => total + one[field], 0)
printRow(
  {
    name: 'api-server-vip',
    ours: { longestGapMs },
    peer: null,
    comparedWith: 'nothing: the bound is absolute',
    ratio: null,
    goal: `no gap of new connections > ${GOAL_MS} ms when a master dies`,
    pass: longestGapMs <= GOAL_MS,
    detail: {
      deathsOfEach: ROUNDS,
      connections: sum('begun'),
      failed: sum('failed'),
      ...Object.fromEntries(
        [...outages].map(([death, seen]) => [
          `last to fail, ${death}`,
          `${Math.round(Math.max(...seen.map(({ lastFailedMs }) => lastFailedMs)))} ms after it`,
        ]),
      ),
      slowestAnsweredMs: most('slowestMs'),
      longestStallMs: most('stallMs'),
    },
    distributions: Object.fromEntries(
      [...outages].map(([death, seen]) => [death, distribution(seen.map(({ gapMs }) => gapMs))]),
    ),
  },
  options,
)
