import type { Attributes } from '@spout/octavia-client'
import { CheckFailed } from './result.ts'
import type { Trial } from './trial.ts'

const PAGE_SIZE = 3

/** Checks lists of what the other checks created: filters, fields, order and pages. */
export async function checkLists(trial: Trial, lb: string): Promise<void> {
  trial.group('lists')
  await checkFilters(trial, lb)
  await trial.check('fields', async () => {
    for (const item of await getList(trial, '/pools', 'fields=id&fields=name'))
      if (Object.keys(item).sort().join() !== 'id,name') throw new CheckFailed(`shows ${Object.keys(item).join(', ')}`)
  })
  await checkOrder(trial)
  await trial.check('children by their load balancer', async () => {
    const found = await getList(trial, '/listeners', `loadbalancer_id=${lb}`)
    const others = found.filter(({ loadbalancers }) => (loadbalancers as readonly Attributes[])[0]?.['id'] !== lb)
    if (found.length === 0 || others.length > 0)
      throw new CheckFailed(`finds ${found.length}, ${others.length} of others`)
  })
  for (const plural of ['providers', 'flavors', 'availabilityzones'])
    await trial.check(`${plural} are shown to a tenant`, () => trial.options.client.list(`/${plural}`))
  await trial.check('default quotas are shown', () => trial.show('/quotas/defaults', 'quota'))
}

async function getList(trial: Trial, path: string, query: string): Promise<readonly Attributes[]> {
  const plural = path.slice(1)
  const { [plural]: items } = await trial.expect(200, 'GET', `${path}?${query}`)
  if (!Array.isArray(items)) throw new CheckFailed(`GET ${path} was answered without ${plural}`)
  return items as readonly Attributes[]
}

async function checkFilters(trial: Trial, lb: string): Promise<void> {
  const { prefix } = trial.options
  const finds = (name: string, query: string, isThere: boolean) =>
    trial.check(`load balancers ${name}`, async () => {
      const found = await getList(trial, '/loadbalancers', query)
      if (found.some(({ id }) => id === lb) !== isThere)
        throw new CheckFailed(`${query} ${isThere ? 'does not find' : 'finds'} the load balancer`)
    })
  await finds('by name', `name=${prefix}-renamed`, true)
  await finds('by another name', `name=${prefix}-other`, false)
  await finds('by state', 'provisioning_status=ACTIVE', true)
  await finds('by whether they are enabled', 'admin_state_up=false', false)
  await finds('by a tag', 'tags=red', true)
  await finds('by two tags', 'tags=red,green', false)
  await finds('by any of two tags', 'tags-any=red,green', true)
  await finds('by no tag', 'not-tags=red', false)
  await finds('by none of two tags', 'not-tags-any=green', true)
}

/** Checks that lists are sorted, and read in pages and from a marker. */
async function checkOrder(trial: Trial): Promise<void> {
  await trial.check('order', async () => {
    for (const [direction, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const ids = (await getList(trial, '/pools', `sort=id:${direction}`)).map(({ id }) => String(id))
      const sorted = ids.toSorted((a, b) => (a < b ? -sign : sign))
      if (ids.join() !== sorted.join()) throw new CheckFailed(`sort=id:${direction} is in another order`)
    }
  })
  await trial.check('pages, by their links, show everything once', async () => {
    const all = (await getList(trial, '/pools', 'sort=id')).map(({ id }) => id)
    const seen: unknown[] = []
    for (let query: string | null = `limit=${PAGE_SIZE}&sort=id`; query !== null; ) {
      const { pools, pools_links: links } = await trial.expect(200, 'GET', `/pools?${query}`)
      const page = pools as readonly Attributes[]
      if (page.length > PAGE_SIZE) throw new CheckFailed(`a page of ${PAGE_SIZE} has ${page.length}`)
      seen.push(...page.map(({ id }) => id))
      if (seen.length > all.length) break
      query = nextQuery(links)
    }
    if (seen.join() !== all.join()) throw new CheckFailed(`pages show ${seen.length} of ${all.length} in order`)
  })
  await trial.check('a marker', async () => {
    const all = (await getList(trial, '/pools', 'sort=id')).map(({ id }) => id)
    const after = (await getList(trial, '/pools', `sort=id&marker=${String(all[0])}`)).map(({ id }) => id)
    if (after.join() !== all.slice(1).join()) throw new CheckFailed('the list does not begin after it')
  })
}

function nextQuery(links: unknown): string | null {
  const next = (links as readonly Attributes[] | undefined)?.find(({ rel }) => rel === 'next')
  return typeof next?.['href'] === 'string' ? new URL(next['href'], 'http://cloud').search.slice(1) : null
}
