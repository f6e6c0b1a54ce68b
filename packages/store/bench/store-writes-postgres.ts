/**
 * Measures durable commits per second, 64 at a time, about 1 KB each, beside pgbench's inserts of the same size, each a
 * transaction, by 64 clients on the same server, in turns. Prints one JSON object.
 *
 * `node packages/store/bench/store-writes-postgres.ts [--quick] [--json]`
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { must } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { PostgresStore } from '../src/postgres/postgres-store.ts'

const CONCURRENCY = 64
const GOAL = 0.5

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
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

const server = await PostgresServer.start()
try {
  await server.createDatabase('ours')
  await server.createDatabase('peer')
  await server.sql('CREATE TABLE object (id bigserial PRIMARY KEY, value text)', 'peer')
  const script = path.join(server.host, 'insert.sql')
  writeFileSync(script, `INSERT INTO object (value) VALUES (repeat('x', 1000));\n`, { mode: 0o644 })
  const pgbench = async (): Promise<number> => {
    const perClient = Math.ceil(writesPerRound / CONCURRENCY)
    const how = ['-n', '-f', script, '-c', String(CONCURRENCY), '-j', '2', '-t', String(perClient)]
    const where = ['-h', server.host, '-p', String(server.port), '-U', server.user, 'peer']
    const said = await must([server.program('pgbench'), ...how, ...where], { timeoutMs: 600_000 })
    return Number(/^tps = ([\d.]+) \(without/m.exec(said)?.[1])
  }
  const store = await PostgresStore.open({
    database: {
      servers: [{ host: server.host, port: server.port }],
      ...{ database: 'ours', user: server.user, password: async () => null, tls: null },
    },
  })
  const put = (n: number) =>
    store.commit([
      { op: 'put', kind: 'loadBalancer', id: `lb-${n % 10_000}`, scope: `p${n % 100}`, value: document(n) },
    ])
  const ours: Round[] = []
  const peer: number[] = []
  const alone: Round[] = []
  await timed(500, put, CONCURRENCY) // warm
  for (let round = 0; round < rounds; round++) {
    ours.push(await timed(writesPerRound, put, CONCURRENCY))
    peer.push(await pgbench())
    alone.push(await timed(writesPerRound / 20, put, 1))
  }
  await store.close()
  const perSecond = quantile(
    ours.map((round) => round.perSecond),
    0.5,
  )
  const peerPerSecond = quantile(peer, 0.5)
  const latenciesMs = ours.flatMap((round) => round.latenciesMs)
  const aloneMs = alone.flatMap((round) => round.latenciesMs)
  const row = {
    name: 'store-writes-postgres',
    ours: {
      perSecond: rounded(perSecond),
      p50Ms: rounded(quantile(latenciesMs, 0.5), 2),
      p99Ms: rounded(quantile(latenciesMs, 0.99), 2),
    },
    peer: { perSecond: rounded(peerPerSecond) },
    comparedWith: 'pgbench, one insert a transaction, 64 clients, the same server',
    ratio: rounded(perSecond / peerPerSecond, 2),
    goal: `>= ${GOAL} of it at concurrency ${CONCURRENCY}`,
    pass: perSecond >= GOAL * peerPerSecond,
    detail: {
      rounds,
      writesPerRound,
      oneAtATimeP50Ms: rounded(quantile(aloneMs, 0.5), 3),
      oneAtATimeP99Ms: rounded(quantile(aloneMs, 0.99), 3),
    },
  }
  process.stdout.write(`${JSON.stringify(row)}\n`)
} finally {
  await server.dispose()
}
