/**
 * From a change of a member's health on a node to the pixel: the node says when it changed, and a page in a real browser
 * when it has drawn it. 99 more pages follow the same load balancer. They stand for other machines, which draw for
 * themselves, so each is a stream alone.
 */
import { builtPage, callApi, type ReceivedEvents, receiveEvents, startMember, waitFor } from '@spout/testkit'
import { TestBrowser } from '@spout/testkit/browser'
import { withSpout } from './bed/spout-bed.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 500
const options = benchOptions()
const ROUNDS = options.quick ? 3 : 50
const OTHERS = 99
const PLACE = 'tenant-a-member1'

interface Transition {
  readonly at: string
  readonly health: string
}
interface Drawn {
  readonly text: string
  readonly atMs: number
}

/** In the page: notes when the state of the first member is drawn. */
const NOTE_WHAT_IS_DRAWN = `
  globalThis.drawn = []
  const cell = () => [...document.querySelectorAll('tbody tr')].find((row) => row.textContent.startsWith('member1'))
  const state = () => /\\bdown\\b/.test(cell()?.textContent ?? '') ? 'down' : 'up'
  let last = state()
  new MutationObserver(() => {
    const text = state()
    if (text === last) return
    last = text
    requestAnimationFrame(() => setTimeout(() => globalThis.drawn.push({ text, atMs: Date.now() })))
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })`

const lagsMs: number[] = []
builtPage()
await withSpout({ nodes: ['node1'] }, async ({ lab, access, gateway, publicPoolId }) => {
  const { endpoint } = access
  const call = <T>(method: string, path: string, body?: unknown) =>
    callApi<T>(endpoint, gateway.token, method, path, body)
  const { id } = await call<{ id: string }>('POST', '/load-balancers', {
    ...{ name: 'live', vips: [{ from: 'pool', poolId: publicPoolId }] },
    listeners: [{ protocol: 'http', port: 80, defaultPool: 'p' }],
    pools: [
      {
        ...{ name: 'p', protocol: 'http' },
        monitor: { type: 'tcp', intervalMs: 200, timeoutMs: 200, rise: 1, fall: 1 },
        members: [1, 2].map((n) => ({ name: `member${n}`, address: `10.0.0.1${n}`, port: 8080 })),
      },
    ],
  })
  const others: ReceivedEvents[] = []
  for (let n = 0; n < OTHERS; n++) {
    const topics = encodeURIComponent(`load-balancers,load-balancer:${id}`)
    const events = await receiveEvents(`${endpoint}/api/v1/events?topics=${topics}`, gateway.token)
    others.push(events)
    void (async () => {
      while ((await events.next()) !== null);
    })()
  }
  await using browser = await TestBrowser.launch()
  const { page } = await browser.visit(endpoint)
  const data = { userName: 'tenant-a', password: 'tenant-a-in-the-lab', projectName: 'tenant-a' }
  await page.request.post('/api/v1/session', { headers: { 'spout-page': '1' }, data })
  await page.goto(`/ui/load-balancers/${id}?view=members`)
  await page
    .getByRole('row', { name: /^member1/ })
    .getByText('up', { exact: true })
    .waitFor()
  await page.evaluate(NOTE_WHAT_IS_DRAWN)

  const isUp = { value: true }
  const changed = async () => {
    const wanted = isUp.value ? 'down' : 'up'
    if (isUp.value) await lab.stop(lab.process(`member-${PLACE}`)!, 'SIGKILL')
    else await startMember(lab, PLACE)
    isUp.value = !isUp.value
    await waitFor(async () => (await page.evaluate<Drawn[]>('drawn')).at(-1)?.text === wanted, { what: wanted })
  }
  for (let round = 0; round < ROUNDS; round++) {
    await changed()
    const { items } = await call<{ items: readonly Transition[] }>('GET', `/load-balancers/${id}/member-history`)
    const drawn = (await page.evaluate<Drawn[]>('drawn')).at(-1)
    const since = items.findLast(({ health }) => health === drawn?.text)?.at
    lagsMs.push(drawn!.atMs - Date.parse(since!))
  }
  for (const each of others) each.close()
})
const p99 = percentile(lagsMs, 0.99)
printRow(
  {
    name: 'ui-live',
    ours: { p50Ms: percentile(lagsMs, 0.5), p99Ms: p99 },
    peer: null,
    comparedWith: '',
    ratio: null,
    goal: `a change of health to the pixel, ${OTHERS + 1} pages: p99 <= ${GOAL_MS} ms`,
    pass: p99 <= GOAL_MS,
    detail: { rounds: ROUNDS },
    distributions: { 'health to pixel': distribution(lagsMs) },
  },
  options,
)
