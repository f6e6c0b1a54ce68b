/**
 * 500 pages of administrators that follow all load balancers by `/events` while 100 changes a second arrive: what the control plane
 * takes more than for the same changes without pages, and how long a change takes to a page.
 */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { callApi, createTenant, Lab, startControlPlane } from '@spout/testkit'
import { widePool } from './bed/fill.ts'
import { cpuSeconds, residentMb } from './bed/processes.ts'
import { EventReaders } from './page/event-readers.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { megabytes: 60, core: 0.1, partOfRate: 0.95 } as const
const options = benchOptions()
const READERS = 500
const LOAD_BALANCERS = 100
const PER_SECOND = 100
const SECONDS = options.quick ? 5 : 30
/** V8 compacts an idle heap only after several seconds. */
const SETTLE_MS = options.quick ? 3000 : 12_000

await using lab = await Lab.create()
const access = await startControlPlane(lab, { set: [`limits.watches=${READERS}`] })
const controlPlane = lab.process('control-plane')
if (controlPlane === null) throw new Error('the control plane does not run')
const { pid } = controlPlane
const poolId = await widePool(access)
const { token } = await createTenant(access, {
  ...{ project: 'pages', user: 'pages', password: 'pages-in-the-lab', segment: 'tenant-a', returnPath: 'gateway' },
})
const call = <T>(method: string, path: string, body: unknown) => callApi<T>(access.endpoint, token, method, path, body)
const ids: string[] = []
for (let n = 0; n < LOAD_BALANCERS; n++)
  ids.push(
    (await call<{ id: string }>('POST', '/load-balancers', { name: `lb-${n}`, vips: [{ from: 'pool', poolId }] })).id,
  )

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6
/** When each change was asked for, by its text. */
const askedMs = new Map<string, number>()
let changes = 0
const nameOf = (change: number): string => `change-${change}-end`

interface Taken {
  /** Processor time of the control plane, until the pages knew all. */
  readonly cpuSeconds: number
  readonly perSecond: number
  /** How long after its time a change was asked for: 99 % of them. That is this program's own delay. */
  readonly lateP99Ms: number
}

/** Changes at an even rate. @param toldOf resolves once all pages know the change of this name */
async function change(toldOf: (name: string) => Promise<unknown>): Promise<Taken> {
  const told = toldOf(nameOf(changes + PER_SECOND * SECONDS - 1))
  const [beganMs, cpu] = [nowMs(), cpuSeconds(pid)]
  const underWay: Promise<unknown>[] = []
  const lateMs: number[] = []
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const dueMs = beganMs + (n * 1000) / PER_SECOND
    await pause(Math.max(0, dueMs - nowMs()))
    const name = nameOf(changes++)
    askedMs.set(name, nowMs())
    lateMs.push(nowMs() - dueMs)
    underWay.push(call('PATCH', `/load-balancers/${ids[n % LOAD_BALANCERS]}`, { name }))
  }
  await Promise.all(underWay)
  const seconds = (nowMs() - beganMs) / 1000
  await told
  return {
    cpuSeconds: cpuSeconds(pid) - cpu,
    perSecond: (PER_SECOND * SECONDS) / seconds,
    lateP99Ms: percentile(lateMs, 0.99),
  }
}

const withoutPages = async (): Promise<void> => {}
await change(withoutPages)
await pause(SETTLE_MS)
const alone = await change(withoutPages)
await pause(SETTLE_MS)
const rssAloneMb = residentMb(pid)

using readers = await EventReaders.open(access.endpoint, access.admin.token, READERS)
await pause(SETTLE_MS)
let readBy: ReadonlyMap<string, number> = new Map()
const beside = await change(async (name) => {
  readBy = await readers.untilRead(name)
})
const lagsMs = [...readBy].map(([name, atMs]) => atMs - (askedMs.get(name) ?? Number.NaN))
await pause(SETTLE_MS)
const megabytes = residentMb(pid) - rssAloneMb

// Of the same number of changes, however long they took: a busy machine stretches the time.
const core = (beside.cpuSeconds - alone.cpuSeconds) / SECONDS
printRow(
  {
    name: 'ui-streams',
    ours: { megabytes, core },
    peer: null,
    comparedWith: 'itself without pages',
    ratio: null,
    goal: `${READERS} pages, ${PER_SECOND} changes/s: <= ${GOAL.megabytes} MB and <= ${GOAL.core * 100} % of a core more`,
    pass: megabytes <= GOAL.megabytes && core <= GOAL.core && beside.perSecond >= GOAL.partOfRate * PER_SECOND,
    detail: {
      ...{
        cpuSecondsAlone: alone.cpuSeconds,
        cpuSecondsWithPages: beside.cpuSeconds,
        rssAloneMb,
        changes: PER_SECOND * SECONDS,
      },
      ...{ perSecondAlone: alone.perSecond, perSecondWithPages: beside.perSecond },
      ...{ lateP99Ms: beside.lateP99Ms, load: loadavg()[0] ?? 0 },
    },
    distributions: { 'request to page': distribution(lagsMs) },
  },
  options,
)
