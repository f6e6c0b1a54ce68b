/**
 * New TLS 1.3 connections through a tenant's proxy as Spout runs it, compared with a hand-written haproxy.cfg for the
 * same job over the same hops: with one certificate, and with 1,000 at ten ports. Set up anew several times, because
 * two copies of the same proxy differ by some percent for their lifetime; each time counts once.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Issued, type Lab, startFastMember, waitFor } from '@spout/testkit'
import { startHandWritten } from './bed/hand-written.ts'
import {
  CERTIFICATES_OF_LISTENER,
  chunks,
  createHttps,
  HTTPS_PORT,
  issueNames,
  storeCertificates,
} from './bed/https.ts'
import { compile, LineProgram } from './bed/native.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { median, pairedRatio } from './percentile.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

const NODE = 'node1'
const SEGMENT = 'tenant-b'
const CLIENTS = 8
const ROUND_MS = 1000
const options = benchOptions()
const SITTINGS = options.quick ? 1 : 3
const ROUNDS = options.quick ? 3 : 7

type Results = Readonly<Record<'spout' | 'handWritten', number[]>>
interface Case {
  readonly name: string
  readonly certificates: number
  readonly goal: number
  readonly results: Results
  /** One a sitting. */
  readonly ratios: number[]
}

const CASES: readonly Case[] = [
  { name: 'tls-handshakes-1', certificates: 1, goal: 0.97, results: { spout: [], handWritten: [] }, ratios: [] },
  { name: 'tls-handshakes-1000', certificates: 1000, goal: 0.95, results: { spout: [], handWritten: [] }, ratios: [] },
].filter(({ name }) => isWanted(name, options))

/** Handshakes a second. @throws Error when one failed */
async function rate(lab: Lab, program: string, address: string, names: number): Promise<number> {
  const argv = [program, address, HTTPS_PORT, CERTIFICATES_OF_LISTENER, names, CLIENTS, 0].map(String)
  await using clients = new LineProgram(lab, 'client', argv)
  await pause(ROUND_MS / 5)
  await clients.ask('count')
  await pause(ROUND_MS)
  const [done = 0, failed = 0, tookNs = Number.NaN] = (await clients.ask('count')).split(' ').map(Number)
  if (failed > 0) throw new Error(`${address}: ${failed} handshakes failed`)
  return done / (tookNs / 1e9)
}

/** The certificates as files, and the `bind` lines that use them. */
function bindsOf(lab: Lab, issued: readonly Issued[]): (address: string) => readonly string[] {
  const lists = chunks(issued).map((part, at) => {
    const files = part.map(({ certificate, key }, n) => {
      const file = path.join(lab.directory, `${issued.length}-${at}-${n}.pem`)
      writeFileSync(file, certificate + key)
      return file
    })
    const list = path.join(lab.directory, `${issued.length}-${at}.list`)
    writeFileSync(list, `${files.join('\n')}\n`)
    return list
  })
  return (address) =>
    lists.map((list, at) => `${address}:${HTTPS_PORT + at} ssl crt-list ${list} ssl-min-ver TLSv1.2 alpn h2,http/1.1`)
}

/** Issued once. */
let issued: readonly Issued[] | null = null

/** Rounds on a newly set up system. */
async function sitting(bed: SpoutBed): Promise<void> {
  const { lab, snat } = bed
  issued ??= await issueNames(lab, Math.max(...CASES.map(({ certificates }) => certificates)))
  for (const n of [1, 2]) await startFastMember(lab, `${SEGMENT}-member${n}`)
  const program = await compile(lab, 'tls-handshakes', ['ssl', 'crypto'])
  const ids = await storeCertificates(bed, snat, issued)
  for (const [at, { certificates, results, ratios }] of CASES.entries()) {
    const spout = await createHttps(bed, snat, ids.slice(0, certificates))
    const binds = bindsOf(lab, issued.slice(0, certificates))
    const handWritten = await startHandWritten(lab, {
      name: `proxy${at}`,
      node: NODE,
      segment: SEGMENT,
      index: 3 + at,
      binds,
    })
    const ways = [
      ['spout', spout],
      ['handWritten', handWritten],
    ] as const
    for (const [, address] of ways) {
      const curl = ['curl', '-sk', '--max-time', '2', '-o', '/dev/null', `https://${address}/`]
      await waitFor(async () => (await lab.run('client', curl)).code === 0, {
        what: `${address} to answer`,
        timeoutMs: 60_000,
      })
      // Not counted.
      await rate(lab, program, address, certificates)
    }
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, address] of round % 2 === 0 ? ways : ways.toReversed())
        results[way].push(await rate(lab, program, address, certificates))
    ratios.push(pairedRatio(results.spout.slice(-ROUNDS), results.handWritten.slice(-ROUNDS)))
  }
}

for (let n = 0; n < SITTINGS; n++) await withSpout({ nodes: [NODE], members: false }, sitting)
for (const { name, certificates, goal, results, ratios } of CASES) {
  const ratio = median(ratios)
  printRow(
    {
      name,
      ours: { perSecond: median(results.spout) },
      peer: { perSecond: median(results.handWritten) },
      comparedWith: 'hand-written haproxy.cfg',
      ratio,
      goal: `>= ${goal} of its new TLS 1.3 connections a second with ${certificates} certificates, 0 failed`,
      pass: ratio >= goal,
      detail: {
        sittings: SITTINGS,
        ratios: ratios.map((one) => one.toFixed(3)).join(' '),
        roundsOfEach: ROUNDS,
        clients: CLIENTS,
      },
    },
    options,
  )
}
