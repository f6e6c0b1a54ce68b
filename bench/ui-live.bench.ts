/**
 * From a change of a member's health on a node to the pixel, with 100 open pages: the node says when it changed, and pages
 * in a real browser when they have drawn it. The other pages are on other machines, which draw for themselves: of them
 * there is what they ask of the control plane.
 */
import { loadavg } from 'node:os'
import { builtPage, callApi, startMember } from '@spout/testkit'
import { TestBrowser, type Visit } from '@spout/testkit/browser'
import { withSpout } from './bed/spout-bed.ts'
import { noteStates, whenDrawn } from './page/drawn-states.ts'
import { openPage, type Reader } from './page/open-page.ts'
import { openOtherPage } from './page/other-pages.ts'
import { distribution, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 500
const options = benchOptions()
const CHANGES = options.quick ? 6 : 100
const PAGES = 100
const PLACE = 'tenant-a-member1'
const TENANT: Reader = { user: 'tenant-a', password: 'tenant-a-in-the-lab', project: 'tenant-a' }

interface Transition {
  readonly at: string
  readonly memberId: string
  readonly health: 'up' | 'down'
}

/** What says in the page that the member is up, or down. */
const IN_TABLE = `document.querySelector('tbody td')?.textContent === 'Serving' ? 'up' : 'down'`
const IN_MEMBERS = `[...document.querySelectorAll('tbody tr')].find(({ cells }) => cells[0].textContent.startsWith('member1'))?.cells[1].textContent`

const lagsMs: Record<'table' | 'members', number[]> = { table: [], members: [] }
builtPage()
await withSpout({ nodes: ['node1'] }, async ({ lab, access, gateway, publicPoolId }) => {
  const { endpoint, admin } = access
  const call = <T>(method: string, path: string, body?: unknown) =>
    callApi<T>(endpoint, gateway.token, method, path, body)
  const { id, pools } = await call<{ id: string; pools: readonly { members: readonly { id: string }[] }[] }>(
    'POST',
    '/load-balancers',
    {
      ...{ name: 'live', vips: [{ from: 'pool', poolId: publicPoolId }] },
      listeners: [{ protocol: 'http', port: 80, defaultPool: 'p' }],
      pools: [
        {
          ...{ name: 'p', protocol: 'http' },
          monitor: { type: 'tcp', intervalMs: 200, timeoutMs: 200, rise: 1, fall: 1 },
          members: [1, 2].map((n) => ({ name: `member${n}`, address: `10.0.0.1${n}`, port: 8080 })),
        },
      ],
    },
  )
  const memberId = pools[0]?.members[0]?.id
  await using browser = await TestBrowser.launch()
  const shown: readonly (readonly [keyof typeof lagsMs, Visit])[] = [
    ['table', await openPage(browser, endpoint, TENANT, 'load-balancers')],
    ['table', await openPage(browser, endpoint, admin, 'load-balancers')],
    ['members', await openPage(browser, endpoint, TENANT, `load-balancers/${id}?view=members`)],
  ]
  for (const [where, { page }] of shown) {
    await page.getByRole('row').first().waitFor()
    await noteStates(page, where === 'table' ? IN_TABLE : IN_MEMBERS)
    await whenDrawn(page, 'up')
  }
  const others: (() => void)[] = []
  // A project may not have more than 64 streams; half of them are an operator's.
  for (let n = shown.length; n < PAGES; n++)
    others.push(await openOtherPage({ endpoint, id, token: n % 2 === 0 ? admin.token : gateway.token }))

  /** When its node noticed the last change of the member. */
  const noticedMs = async (health: string): Promise<number> => {
    const { items } = await call<{ items: readonly Transition[] }>('GET', `/load-balancers/${id}/member-history`)
    const last = items.findLast((one) => one.memberId === memberId)
    if (last?.health !== health) throw new Error(`the node does not say that the member is ${health}`)
    return Date.parse(last.at)
  }
  for (let change = 0; change < CHANGES; change++) {
    const health = change % 2 === 0 ? 'down' : 'up'
    const drawn = shown.map(async ([where, { page }]) => [where, await whenDrawn(page, health)] as const)
    if (health === 'down') await lab.stop(lab.process(`member-${PLACE}`)!, 'SIGKILL')
    else await startMember(lab, PLACE)
    const seen = await Promise.all(drawn)
    const fromMs = await noticedMs(health)
    for (const [where, atMs] of seen) lagsMs[where].push(atMs - fromMs)
  }
  for (const close of others) close()
})
const p99Ms = percentile([...lagsMs.table, ...lagsMs.members], 0.99)
printRow(
  {
    name: 'ui-live',
    ours: { p50Ms: percentile([...lagsMs.table, ...lagsMs.members], 0.5), p99Ms },
    peer: null,
    comparedWith: '',
    ratio: null,
    goal: `a change of health to the pixel, ${PAGES} open pages: p99 <= ${GOAL_MS} ms`,
    pass: p99Ms <= GOAL_MS,
    detail: { changes: CHANGES, pagesInBrowser: 3, pagesWithoutDrawing: PAGES - 3, load: loadavg()[0] ?? 0 },
    distributions: {
      'health to pixel, table': distribution(lagsMs.table),
      'health to pixel, members': distribution(lagsMs.members),
    },
  },
  options,
)
