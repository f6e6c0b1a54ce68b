import type { Attributes } from '@spout/octavia-client'
import { CheckFailed } from './result.ts'
import type { Trial } from './trial.ts'

const SOME = 3

/** Lists of what other checks made: filters, fields, order, pages. */
export async function checkLists(trial: Trial, lb: string): Promise<void> {
  trial.group('lists')
  const { prefix } = trial.options
  const get = async (path: string, query: string): Promise<readonly Attributes[]> => {
    const plural = path.slice(1)
    const { [plural]: items } = await trial.expect(200, 'GET', `${path}?${query}`)
    if (!Array.isArray(items)) throw new CheckFailed(`GET ${path} was answered without ${plural}`)
    return items as readonly Attributes[]
  }
  const finds = (name: string, query: string, isThere: boolean) =>
    trial.check(`load balancers ${name}`, async () => {
      const found = await get('/loadbalancers', query)
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
  await trial.check('fields', async () => {
    for (const item of await get('/pools', 'fields=id&fields=name'))
      if (Object.keys(item).sort().join() !== 'id,name') throw new CheckFailed(`shows ${Object.keys(item).join(', ')}`)
  })
  await trial.check('order', async () => {
    for (const [direction, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const ids = (await get('/pools', `sort=id:${direction}`)).map(({ id }) => String(id))
      const sorted = ids.toSorted((a, b) => (a < b ? -sign : sign))
      if (ids.join() !== sorted.join()) throw new CheckFailed(`sort=id:${direction} is in another order`)
    }
  })
  await trial.check('pages that links lead to show everything once', async () => {
    const all = (await get('/pools', 'sort=id')).map(({ id }) => id)
    const seen: unknown[] = []
    for (let query: string | null = `limit=${SOME}&sort=id`; query !== null; ) {
      const { pools, pools_links: links } = await trial.expect(200, 'GET', `/pools?${query}`)
      const page = pools as readonly Attributes[]
      if (page.length > SOME) throw new CheckFailed(`a page of ${SOME} has ${page.length}`)
      seen.push(...page.map(({ id }) => id))
      if (seen.length > all.length) break
      query = nextQuery(links)
    }
    if (seen.join() !== all.join()) throw new CheckFailed(`pages show ${seen.length} of ${all.length} in order`)
  })
  await trial.check('a marker', async () => {
    const all = (await get('/pools', 'sort=id')).map(({ id }) => id)
    const after = (await get('/pools', `sort=id&marker=${String(all[0])}`)).map(({ id }) => id)
    if (after.join() !== all.slice(1).join()) throw new CheckFailed('does not begin behind it')
  })
  await trial.check('children by their load balancer', async () => {
    const found = await get('/listeners', `loadbalancer_id=${lb}`)
    const others = found.filter(({ loadbalancers }) => (loadbalancers as readonly Attributes[])[0]?.['id'] !== lb)
    if (found.length === 0 || others.length > 0)
      throw new CheckFailed(`finds ${found.length}, ${others.length} of others`)
  })
  for (const plural of ['providers', 'flavors', 'availabilityzones'])
    await trial.check(`${plural} are shown to a tenant`, () => trial.options.client.list(`/${plural}`))
  await trial.check('default quotas are shown', () => trial.show('/quotas/defaults', 'quota'))
}

function nextQuery(links: unknown): string | null {
  const next = (links as readonly Attributes[] | undefined)?.find(({ rel }) => rel === 'next')
  return typeof next?.['href'] === 'string' ? new URL(next['href'], 'http://cloud').search.slice(1) : null
}
