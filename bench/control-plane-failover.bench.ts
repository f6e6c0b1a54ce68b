/**
 * The leading one of three control planes on PostgreSQL is killed by SIGKILL, while a client writes through the others:
 * from the last write that was accepted before to the first that is accepted after.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { callApi, passwordToken, waitFor } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import {
  type PlaneOfSeveral,
  readyOf,
  startPlaneOfSeveral,
} from '../apps/control-plane/src/testing/plane-of-several.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 3000
const COUNT = 3
const ADMIN = { user: 'admin', password: 'a-password-for-the-bench', project: 'admin' }
const LONGEST_MS = 60_000

const options = benchOptions()
const ROUNDS = options.quick ? 3 : 30

const postgres = await PostgresServer.start()
let planes: readonly PlaneOfSeveral[] = []

const start = async (like?: PlaneOfSeveral): Promise<PlaneOfSeveral> =>
  startPlaneOfSeveral({ server: postgres.host, adminPassword: ADMIN.password, like })

async function leader(): Promise<PlaneOfSeveral> {
  let found: PlaneOfSeveral | undefined
  const look = async () => {
    for (const plane of planes) if ((await readyOf(plane)).includes('ok: leads')) found = plane
    return found !== undefined
  }
  await waitFor(look, { what: 'one to lead', timeoutMs: LONGEST_MS })
  return found!
}

/** @returns how long no write was accepted, in ms */
async function gapOf(round: number): Promise<number> {
  const dying = await leader()
  const living = planes.filter((plane) => plane !== dying)
  const [through, ...others] = living
  // Every process follows, so that none has to find the leader first.
  for (const plane of living)
    await waitFor(async () => (await readyOf(plane)).includes('ok: follows'), { what: 'the others to follow' })
  const { token } = await passwordToken(through!.process.address, ADMIN)
  const accepted: number[] = []
  let ending = false
  let refusal = 'none was refused'
  const write = async (): Promise<void> => {
    for (let n = 0; !ending; n++) {
      const name = `round-${round}-${n}`
      const made = await callApi(through!.process.address, token, 'POST', '/projects', { name }).catch(
        (error: unknown) => {
          refusal = String(error)
          return null
        },
      )
      if (made === null) await pause(5)
      else accepted.push(performance.now())
    }
  }
  const writing = write()
  await waitFor(() => accepted.length > 20, { what: 'writes' }).catch((error: unknown) => {
    throw new Error(`round ${round}: ${accepted.length} writes; the last refusal: ${refusal}`, { cause: error })
  })
  const killedMs = performance.now()
  await dying.process.kill()
  await waitFor(() => accepted.some((atMs) => atMs > killedMs + 200), { what: 'writes again', timeoutMs: LONGEST_MS })
  ending = true
  await writing
  await dying.process[Symbol.asyncDispose]()
  planes = [through!, ...others, await start(through)]
  return Math.max(...accepted.slice(1).map((atMs, n) => atMs - accepted[n]!))
}

try {
  await postgres.createDatabase('spout')
  planes = [await start()]
  while (planes.length < COUNT) planes = [...planes, await start(planes[0])]
  const gaps: number[] = []
  for (let round = 0; round < ROUNDS; round++) gaps.push(await gapOf(round))
  const ours = { p50Ms: percentile(gaps, 0.5), p99Ms: percentile(gaps, 0.99) }
  printRow(
    {
      name: 'control-plane-failover',
      ours,
      peer: null,
      comparedWith: '',
      ratio: null,
      goal: `p99 <= ${GOAL_MS} ms without an accepted write`,
      pass: ours.p99Ms <= GOAL_MS,
      detail: { leadersKilled: ROUNDS, controlPlanes: COUNT },
      distributions: { gap: distribution(gaps) },
    },
    options,
  )
} finally {
  for (const { process } of planes) await process[Symbol.asyncDispose]()
  await postgres.dispose()
}
