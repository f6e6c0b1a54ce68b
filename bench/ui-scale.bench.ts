/**
 * The web page's table with 10,000 load balancers, in a real browser: from what a person does until the result is drawn,
 * what memory the page takes, and how soon a browser that has nothing of it shows something.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { builtPage, callApi, createTenant, Lab, startControlPlane } from '@spout/testkit'
import { TestBrowser } from '@spout/testkit/browser'
import { widePool } from './bed/fill.ts'
import { descendants, proportionalMb } from './bed/processes.ts'
import { timed } from './page/interaction.ts'
import { openPage } from './page/open-page.ts'
import { isEnabled, nameOf, tableInteractions } from './page/table-interactions.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { interactionMs: 100, megabytes: 150, firstPaintMs: 1000 } as const
const options = benchOptions()
const LOAD_BALANCERS = 10_000
const ROUNDS = options.quick ? 3 : 20
const FIRST_PAINTS = options.quick ? 2 : 10
const PARALLEL = 16
const USER = { user: 'pages', password: 'pages-in-the-lab', project: 'pages' } as const

async function fill(endpoint: string, token: string, poolId: string): Promise<void> {
  let made = 0
  const worker = async () => {
    while (made < LOAD_BALANCERS) {
      const n = made++
      await callApi(endpoint, token, 'POST', '/load-balancers', {
        ...{ name: nameOf(n), enabled: isEnabled(n), vips: [{ from: 'pool', poolId }] },
        listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
        pools: [{ name: 'p', protocol: 'tcp', members: [{ address: '10.0.0.11', port: 8080 }] }],
      })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}

/** Of the browser's processes that run pages, the largest. */
function pageMb(): number {
  const isPage = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')
  return Math.max(...descendants(process.pid).filter(isPage).map(proportionalMb))
}

builtPage()
await using lab = await Lab.create()
const access = await startControlPlane(lab)
const { endpoint, admin } = access
const poolId = await widePool(access)
const { token, projectId } = await createTenant(access, { ...USER, segment: 'tenant-a', returnPath: 'gateway' })
const most = 10 * LOAD_BALANCERS
const limits = { loadBalancers: most, listeners: most, pools: most, members: most, addresses: most }
await callApi(endpoint, admin.token, 'PUT', `/projects/${projectId}/quota`, { limits })
await fill(endpoint, token, poolId)

await using browser = await TestBrowser.launch()
const firstPaintsMs: number[] = []
const firstRowsMs: number[] = []
for (let time = 0; time < FIRST_PAINTS; time++) {
  await using visit = await openPage(browser, endpoint, USER, 'load-balancers')
  await visit.page.locator('tbody th[scope=row]').first().waitFor()
  firstRowsMs.push(await visit.page.evaluate<number>('performance.now()'))
  firstPaintsMs.push(
    await visit.page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`),
  )
}

await using visit = await openPage(browser, endpoint, USER, 'load-balancers?sort=name')
const { page } = visit
await page.locator('tbody th[scope=row]').first().waitFor()
const took: Record<string, number[]> = {}
// In the first round the page loads its parts.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, interaction] of tableInteractions(LOAD_BALANCERS, round)) {
    const ms = await timed(page, interaction)
    if (round > 0) took[name] = [...(took[name] ?? []), ms]
  }
const debug = await page.context().newCDPSession(page)
await debug.send('HeapProfiler.collectGarbage')
const { usedSize } = await debug.send('Runtime.getHeapUsage')
const interactionMs = Math.max(...Object.values(took).map((each) => percentile(each, 0.99)))
const [megabytes, firstPaintMs] = [pageMb(), Math.max(...firstPaintsMs)]
printRow(
  {
    name: 'ui-scale',
    ours: { interactionMs, megabytes, firstPaintMs },
    peer: null,
    comparedWith: '',
    ratio: null,
    goal: `${LOAD_BALANCERS.toLocaleString('en-US')} load balancers: p99 of each interaction <= ${GOAL.interactionMs} ms, page <= ${GOAL.megabytes} MB, first paint <= ${GOAL.firstPaintMs} ms`,
    pass: interactionMs <= GOAL.interactionMs && megabytes <= GOAL.megabytes && firstPaintMs <= GOAL.firstPaintMs,
    detail: { heapMb: usedSize / 1_048_576, rounds: ROUNDS, load: loadavg()[0] ?? 0 },
    distributions: Object.fromEntries([
      ...Object.entries(took).map(([name, ms]) => [name, distribution(ms)]),
      ...[
        ['first paint', distribution(firstPaintsMs)],
        ['first rows', distribution(firstRowsMs)],
      ],
    ]),
  },
  options,
)
