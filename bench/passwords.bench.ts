/**
 * Requests of routes with passwords, through a tenant's proxy as Spout runs it. `l7-passwords`: requests a second of a user
 * whose password is remembered, beside the same listener's requests without a password, in turns. `passwords-flood`: what
 * such a user notices of another tenant's flood of wrong passwords for a slow hash, in turns with quiet.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { callApi, FAST_PORTS, type Lab, memberAddress, startFastMember, type Tenant, waitFor } from '@spout/testkit'
import { OtherMachines } from './bed/other-machines.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { median, pairedRatio } from './percentile.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

/** A question takes more of the proxy's time than the request does. */
const GOAL = { ratio: 0.25, p99: 1.5 } as const
const options = benchOptions()
const ROUNDS = options.quick ? 3 : 9
const SECONDS = options.quick ? 1 : 3
const WRONG = 2_000
/** Of `open sesame`, by SHA-512 with its default rounds and by bcrypt at cost 12: 3 ms and a quarter of a second. */
const HASHES = {
  usual: '$6$abcd$pkGcxKpVZNd.S1pRv2jgxdxg43dE1sjAW3FnNKRxCwGECXOv0Urp4DwrRbclgu5UxVGqG5UwC4Yd0YQRgGhfE0',
  slow: '$2b$12$1Da/eK9o8iXg.A2up1iKoO0b3NUVcFwzhwXa1qrPZ774hhHrOqaTe',
} as const

const basic = (password: string): string => `Basic ${Buffer.from(`eve:${password}`).toString('base64')}`
const RIGHT = basic('open sesame')

/** A listener whose `/locked` asks for a password. @returns its address */
async function locked(bed: SpoutBed, { token }: Tenant, hash: string): Promise<string> {
  const call = <T>(method: string, url: string, body: unknown) =>
    callApi<T>(bed.access.endpoint, token, method, url, body)
  const { id: usersId } = await call<{ id: string }>('POST', '/certificates', { name: 'staff', users: `eve:${hash}\n` })
  const members = [0, 1].map((at) => ({ address: memberAddress(at), port: FAST_PORTS.first }))
  const routes = ['/locked', '/open'].map((at) => ({
    conditions: [{ on: 'path', compare: 'elements', values: [at] }],
    action: {
      ...{ type: 'forward', pools: [{ pool: 'web' }] },
      ...(at === '/locked' && { basicAuthentication: { usersId } }),
    },
  }))
  const made = await call<{ id: string; vips: readonly { address: string }[] }>('POST', '/load-balancers', {
    name: 'passwords',
    vips: [{ from: 'pool', poolId: bed.publicPoolId }],
    pools: [{ name: 'web', protocol: 'http', members }],
    listeners: [{ protocol: 'http', port: 80, routes }],
  })
  return made.vips[0]!.address
}

interface Figures {
  readonly perSecond: number
  readonly p99Us: number
  /** Answers other than 2xx, and broken connections. */
  readonly failed: number
}

let scripts = 0
/** `wrk` in the place `client`. @param credentials of the requests, in turn; none: they have none */
async function ask(lab: Lab, url: string, credentials: readonly string[], how: Asking): Promise<Figures> {
  const script = path.join(lab.directory, `wrk-${scripts++}.lua`)
  const lines = [
    `local all, at = {${credentials.map((one) => JSON.stringify(one)).join(', ')}}, 0`,
    'function request()',
    '  at = at + 1',
    '  return wrk.format(nil, nil, { authorization = all[at % #all + 1] })',
    'end',
    'function done(summary, latency)',
    '  local failed = summary.errors',
    '  local sum = failed.status + failed.connect + failed.read + failed.write + failed.timeout',
    '  print("figures " .. summary.requests / summary.duration * 1e6 .. " " .. latency:percentile(99) .. " " .. sum)',
    'end',
  ]
  writeFileSync(script, `${lines.slice(credentials.length === 0 ? 5 : 0).join('\n')}\n`)
  const argv = ['wrk', '-t1', `-c${how.connections}`, `-d${how.seconds}s`, '--timeout', '60s', '-s', script, url]
  const output = await lab.must('client', [...(how.prefix ?? []), ...argv])
  const figures = /^figures (.*)$/m.exec(output)?.[1]?.split(' ').map(Number)
  if (figures === undefined) throw new Error(`${url}: ${output}`)
  const [perSecond = 0, p99Us = Number.NaN, failed = 0] = figures
  return { perSecond, p99Us, failed }
}

interface Asking {
  readonly connections: number
  readonly seconds: number
  readonly prefix?: readonly string[]
}

async function remembered(lab: Lab, address: string): Promise<void> {
  const how = { connections: 32, seconds: SECONDS }
  const [ours, open]: [number[], number[]] = [[], []]
  let failed = 0
  for (let round = 0; round < ROUNDS; round++)
    for (const at of round % 2 === 0 ? ['/locked', '/open'] : ['/open', '/locked']) {
      const one = await ask(lab, `http://${address}${at}`, at === '/locked' ? [RIGHT] : [], how)
      failed += one.failed
      ;(at === '/locked' ? ours : open).push(one.perSecond)
    }
  const ratio = pairedRatio(ours, open)
  printRow(
    {
      ...{ name: 'l7-passwords', ours: { perSecond: median(ours), failedRequests: failed } },
      ...{ peer: { perSecond: median(open) }, comparedWith: 'the same listener without a password', ratio },
      goal: `>= ${GOAL.ratio} of those without a password, 0 requests failed`,
      pass: ratio >= GOAL.ratio && failed === 0,
      detail: { rounds: ROUNDS, seconds: SECONDS, connections: how.connections },
    },
    options,
  )
}

async function flooded(lab: Lab, victim: string, attacked: string, others: OtherMachines): Promise<void> {
  const wrong = Array.from({ length: WRONG }, (_, at) => basic(`wrong ${at}`))
  const how = { connections: 4, seconds: SECONDS }
  const victims = () => ask(lab, `http://${victim}/locked`, [RIGHT], how)
  const [ratios, quiet, busy]: [number[], number[], number[]] = [[], [], []]
  let [failed, guesses] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const before = await victims()
    const flood = ask(lab, `http://${attacked}/locked`, wrong, {
      ...{ connections: 64, seconds: SECONDS + 2, prefix: others.prefix },
    })
    // The queue of the attacked list is full by then.
    await pause(1000)
    const during = await victims()
    guesses += (await flood).perSecond / ROUNDS
    failed += before.failed + during.failed
    quiet.push(before.p99Us)
    busy.push(during.p99Us)
    ratios.push(during.p99Us / before.p99Us)
  }
  const ratio = median(ratios)
  printRow(
    {
      ...{ name: 'passwords-flood', ours: { p99Us: median(busy), failedRequests: failed } },
      ...{ peer: { p99Us: median(quiet) }, comparedWith: 'itself without the flood, in turns', ratio },
      goal: `p99 <= ${GOAL.p99} of that without a flood, 0 requests failed, guesses answered`,
      // Without guesses there was no flood.
      pass: ratio <= GOAL.p99 && failed === 0 && guesses > 0,
      detail: { rounds: ROUNDS, seconds: SECONDS, guessesPerSecond: guesses },
    },
    options,
  )
}

using others = await OtherMachines.create()
await withSpout({ nodes: ['node1'], members: false }, async (bed) => {
  const { lab, gateway: attacker, snat: honest } = bed
  for (const tenant of ['tenant-a', 'tenant-b'])
    for (const n of [1, 2]) await startFastMember(lab, `${tenant}-member${n}`)
  const victim = await locked(bed, honest, HASHES.usual)
  const attacked = await locked(bed, attacker, HASHES.slow)
  for (const address of [victim, attacked])
    await waitFor(
      async () =>
        (
          await lab.must('client', [
            ...['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '-m', '20', '-u', 'eve:open sesame'],
            `http://${address}/locked`,
          ])
        ).trim() === '200',
      { what: `${address} to serve`, timeoutMs: 60_000 },
    )
  if (isWanted('l7-passwords', options)) await remembered(lab, victim)
  if (isWanted('passwords-flood', options)) await flooded(lab, victim, attacked, others)
})
