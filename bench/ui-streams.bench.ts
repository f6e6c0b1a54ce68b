/**
 * 500 pages of administrators that follow all load balancers by `/events` while 100 changes a second arrive: what the control plane
 * takes more than for the same changes without pages, and how long a change takes to a page.
 */
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { callApi, createTenant, Lab, startControlPlane, waitFor } from '@spout/testkit'
import { widePool } from './bed/fill.ts'
import { cpuSeconds, residentMb } from './bed/processes.ts'
import { distribution } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { megabytes: 60, core: 0.1, partOfRate: 0.95 } as const
const options = benchOptions()
const READERS = 500
const LOAD_BALANCERS = 100
const PER_SECOND = 100
const SECONDS = options.quick ? 5 : 30
/** V8 compacts an idle heap only after several seconds. */
const SETTLE_MS = options.quick ? 3000 : 12_000

/** A page's stream. @param told called with each text */
function follow(endpoint: string, token: string, told: (text: string) => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const asked = request(`${endpoint}/api/v1/events`, { headers: { authorization: `Bearer ${token}` }, agent: false })
    asked.on('error', reject)
    asked.on('response', (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`${answer.statusCode}`))
      answer.setEncoding('utf8')
      answer.on('data', told)
      // Torn down at the end of the benchmark.
      answer.on('error', () => {})
      resolve(() => asked.destroy())
    })
    asked.end()
  })
}

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

/** When each change was asked for, by its text. */
const askedMs = new Map<string, number>()
let changes = 0

interface Taken {
  /** Processor time of the control plane, until the pages knew all. */
  readonly cpuSeconds: number
  readonly perSecond: number
}

/** Changes at an even rate. @param isTold whether all pages know the change of this name */
async function change(isTold: (name: string) => boolean): Promise<Taken> {
  const [beganMs, cpu] = [performance.now(), cpuSeconds(pid)]
  const underWay: Promise<unknown>[] = []
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    await pause(Math.max(0, beganMs + (n * 1000) / PER_SECOND - performance.now()))
    const name = `change-${changes++}-end`
    askedMs.set(name, performance.now())
    underWay.push(call('PATCH', `/load-balancers/${ids[n % LOAD_BALANCERS]}`, { name }))
  }
  await Promise.all(underWay)
  const seconds = (performance.now() - beganMs) / 1000
  const last = `change-${changes - 1}-end`
  await waitFor(() => isTold(last), { what: 'every page to be told of the last change' })
  return { cpuSeconds: cpuSeconds(pid) - cpu, perSecond: (PER_SECOND * SECONDS) / seconds }
}

const withoutPages = () => true
await change(withoutPages)
await pause(SETTLE_MS)
const alone = await change(withoutPages)
await pause(SETTLE_MS)
const rssAloneMb = residentMb(pid)

const lagsMs: number[] = []
const texts: string[] = Array.from({ length: READERS }, () => '')
const pages = await Promise.all(
  texts.map((_, page) =>
    follow(access.endpoint, access.admin.token, (text) => {
      // A batch may come in several pieces.
      texts[page] = (texts[page] ?? '').slice(-20_000) + text
      if (page === 0)
        for (const [name] of text.matchAll(/change-\d+-end/g)) {
          const asked = askedMs.get(name)
          if (asked !== undefined && askedMs.delete(name)) lagsMs.push(performance.now() - asked)
        }
    }),
  ),
)
await pause(SETTLE_MS)
askedMs.clear()
const beside = await change((name) => texts.every((text) => text.includes(name)))
await pause(SETTLE_MS)
const megabytes = residentMb(pid) - rssAloneMb
for (const close of pages) close()

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
    },
    distributions: { 'request to page': distribution(lagsMs) },
  },
  options,
)
