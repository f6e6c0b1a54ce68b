/**
 * The web page's table with 10,000 load balancers, in a real browser: how long it takes from what a person does until the
 * other rows are drawn, and what memory the page takes.
 */
import { readFileSync } from 'node:fs'
import { builtPage, callApi, createTenant, Lab, startControlPlane } from '@spout/testkit'
import { TestBrowser, type Visit } from '@spout/testkit/browser'
import { widePool } from './bed/fill.ts'
import { descendants, proportionalMb } from './bed/processes.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { interactionMs: 100, megabytes: 150 } as const
const options = benchOptions()
const LOAD_BALANCERS = 10_000
const ROUNDS = options.quick ? 3 : 20
const PARALLEL = 16
const USER = { user: 'pages', password: 'pages-in-the-lab', project: 'pages' } as const

/** In the page: does something, and waits until the first row that is drawn is another one, and its frame is over. */
const untilDrawn = (action: string): string => `(async () => {
  const first = () => document.querySelector('tbody th[scope=row]')?.textContent
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const before = first()
  const beganMs = performance.now()
  ${action}
  while (first() === before) await frame()
  await frame()
  return performance.now() - beganMs
})()`

const press = (column: string): string =>
  `[...document.querySelectorAll('thead button')].find(({ textContent }) => textContent.startsWith('${column}')).click()`

/** As a person types it: React hears of a value only by the browser's own setter. */
const type = (text: string): string => `
  const input = document.querySelector('input[type=search]')
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '${text}')
  input.dispatchEvent(new Event('input', { bubbles: true }))`

const scrollTo = (part: number): string =>
  `document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight * ${part}`

/** Each shows another first row than the one before. */
const actions = (round: number): Readonly<Record<string, string>> => ({
  sort: press('Name'),
  filter: type(`lb-${5000 + round}`),
  all: type(''),
  scroll: scrollTo(0.3 + (round % 7) / 10),
  top: scrollTo(0),
})

async function fill(endpoint: string, token: string, poolId: string): Promise<void> {
  let made = 0
  const worker = async () => {
    while (made < LOAD_BALANCERS) {
      const name = `lb-${made++}`
      await callApi(endpoint, token, 'POST', '/load-balancers', {
        ...{ name, vips: [{ from: 'pool', poolId }] },
        listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
        pools: [{ name: 'p', protocol: 'tcp', members: [{ address: '10.0.0.11', port: 8080 }] }],
      })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}

async function open(browser: TestBrowser, endpoint: string): Promise<Visit> {
  const visit = await browser.visit(endpoint)
  const login = await visit.page.request.post('/api/v1/session', {
    headers: { 'spout-page': '1' },
    data: { userName: USER.user, password: USER.password, projectName: USER.project },
  })
  if (!login.ok()) throw new Error(await login.text())
  await visit.page.goto('/ui/load-balancers')
  await visit.page.locator('tbody th[scope=row]').first().waitFor()
  return visit
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
const { page } = await open(browser, endpoint)
const took: Record<string, number[]> = {}
// The first round warms up.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, action] of Object.entries(actions(round))) {
    const ms = await page.evaluate<number>(untilDrawn(action))
    if (round > 0) took[name] = [...(took[name] ?? []), ms]
  }
const debug = await page.context().newCDPSession(page)
await debug.send('HeapProfiler.collectGarbage')
const { usedSize } = await debug.send('Runtime.getHeapUsage')
const interactionMs = percentile(Object.values(took).flat(), 0.99)
const megabytes = pageMb()
printRow(
  {
    name: 'ui-scale',
    ours: { interactionP99Ms: interactionMs, megabytes },
    peer: null,
    comparedWith: '',
    ratio: null,
    goal: `${LOAD_BALANCERS.toLocaleString('en-US')} load balancers: interaction <= ${GOAL.interactionMs} ms, page <= ${GOAL.megabytes} MB`,
    pass: interactionMs <= GOAL.interactionMs && megabytes <= GOAL.megabytes,
    detail: { heapMb: usedSize / 1_048_576, rounds: ROUNDS },
    distributions: Object.fromEntries(Object.entries(took).map(([name, ms]) => [name, distribution(ms)])),
  },
  options,
)
