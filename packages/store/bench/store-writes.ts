/**
 * Measures durable commits per second, 64 at a time, about 1 KB each, beside plain `node:sqlite` with one transaction
 * per write and the same durability (WAL, synchronous=FULL). Both use the same disk, in turns. Prints one JSON object.
 *
 * `node packages/store/bench/store-writes.ts [--quick] [--directory DIR]`
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { SqliteStore } from '../src/index.ts'

const CONCURRENCY = 64
const GOAL = { perSecond: 3000, p99Ms: 50 }
/** From `statfs(2)`. A store on tmpfs flushes nothing, so its figures mean nothing. */
const TMPFS_MAGIC = 0x01021994

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    directory: { type: 'string', default: tmpdir() },
  },
})
const rounds = options.quick ? 1 : 5
const writesPerRound = options.quick ? 2000 : 20_000

interface Round {
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
}

const document = (n: number) => ({ n, name: `balancer ${n}`, description: 'x'.repeat(950) })
const quantile = (samples: readonly number[], q: number): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * q))] ?? Number.NaN
const rounded = (value: number, digits = 0): number => Number(value.toFixed(digits))

async function timed(writes: number, write: (n: number) => Promise<unknown>, concurrency: number): Promise<Round> {
  const latenciesMs: number[] = []
  let n = 0
  const started = performance.now()
  const worker = async () => {
    while (n < writes) {
      const from = performance.now()
      await write(n++)
      latenciesMs.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { perSecond: (writes / (performance.now() - started)) * 1000, latenciesMs }
}

const directory = mkdtempSync(join(options.directory, 'spout-bench-'))
try {
  const store = await SqliteStore.open({ path: join(directory, 'ours.db') })
  const put = (n: number) =>
    store.commit([
      { op: 'put', kind: 'loadBalancer', id: `lb-${n % 10_000}`, scope: `p${n % 100}`, value: document(n) },
    ])

  const plain = new DatabaseSync(join(directory, 'peer.db'))
  plain.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE object (id TEXT PRIMARY KEY, value TEXT)',
  )
  const upsert = plain.prepare('INSERT OR REPLACE INTO object VALUES (?, ?)')
  const upsertOne = async (n: number) => upsert.run(`lb-${n % 10_000}`, JSON.stringify(document(n)))

  const ours: Round[] = []
  const peer: Round[] = []
  const alone: Round[] = []
  await timed(500, put, CONCURRENCY) // warm
  for (let round = 0; round < rounds; round++) {
    ours.push(await timed(writesPerRound, put, CONCURRENCY))
    peer.push(await timed(writesPerRound / 10, upsertOne, 1))
    alone.push(await timed(writesPerRound / 20, put, 1))
  }
  await store.close()
  plain.close()

  const rates = ours.map(({ perSecond }) => perSecond)
  const perSecond = quantile(rates, 0.5)
  const peerPerSecond = quantile(
    peer.map((round) => round.perSecond),
    0.5,
  )
  const latenciesMs = ours.flatMap((round) => round.latenciesMs)
  const aloneMs = alone.flatMap((round) => round.latenciesMs)
  const p99Ms = quantile(latenciesMs, 0.99)
  const row = {
    name: 'store-writes',
    ours: { perSecond: rounded(perSecond), p50Ms: rounded(quantile(latenciesMs, 0.5), 2), p99Ms: rounded(p99Ms, 2) },
    peer: { perSecond: rounded(peerPerSecond) },
    comparedWith: 'node:sqlite, one transaction per write, same durability',
    ratio: rounded(perSecond / peerPerSecond, 2),
    goal: `>= ${GOAL.perSecond}/s and p99 <= ${GOAL.p99Ms} ms at concurrency ${CONCURRENCY}`,
    pass: perSecond >= GOAL.perSecond && p99Ms <= GOAL.p99Ms,
    detail: {
      rounds,
      writesPerRound,
      minPerSecond: rounded(Math.min(...rates)),
      maxPerSecond: rounded(Math.max(...rates)),
      oneAtATimeP50Ms: rounded(quantile(aloneMs, 0.5), 3),
      oneAtATimeP99Ms: rounded(quantile(aloneMs, 0.99), 3),
      disk: statfsSync(directory).type === TMPFS_MAGIC ? 'tmpfs: flushes cost nothing' : 'real',
    },
  }
  process.stdout.write(`${JSON.stringify(row)}\n`)
} finally {
  rmSync(directory, { recursive: true })
}
