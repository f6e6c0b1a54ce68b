import type { Attributes } from '@spout/octavia-client'
import { shuffled } from './random.ts'
import { CheckFailed } from './result.ts'
import { mustShow, type Trial } from './trial.ts'

/** Checks that one request creates a load balancer with all its parts, and that one deletes it with them. */
export async function checkGraph(trial: Trial): Promise<void> {
  trial.group('whole graphs')
  const { prefix, vip, memberAddress } = trial.options
  const pool = (name: string, number: number) => ({
    ...{ name: `${prefix}-${name}`, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
    members: [
      { name: 'one', address: memberAddress(number), protocol_port: 80 },
      { name: 'two', address: memberAddress(number + 1), protocol_port: 80, backup: true },
    ],
    healthmonitor: { type: 'HTTP', delay: 10, timeout: 5, max_retries: 3, url_path: '/ready' },
  })
  const rules = [{ type: 'PATH', compare_type: 'STARTS_WITH', value: '/api' }]
  const graph = (name: string) => ({
    ...{ name: `${prefix}-${name}`, ...vip },
    listeners: [
      {
        ...{ name: 'web', protocol: 'HTTP', protocol_port: 80, default_pool: pool('front', 1) },
        l7policies: [{ name: 'api', action: 'REDIRECT_TO_POOL', redirect_pool: pool('back', 3), rules }],
      },
      { name: 'plain', protocol: 'TCP', protocol_port: 81 },
    ],
  })
  const made = await trial.check('is made by one request', async () => {
    const answer = await trial.make('/loadbalancers', 'loadbalancer', graph('graph'))
    await trial.settled(answer.id)
    return answer
  })
  if (made === null) return trial.skip('its parts and its deletion', 'there is none')
  const of = async (path: string) => (await trial.expect(200, 'GET', `${path}`))[path.split('?')[0]!.split('/').at(-1)!]
  await trial.check('has all its parts', async () => {
    const pools = (await of(`/pools?loadbalancer_id=${made.id}`)) as readonly Attributes[]
    const listeners = (await of(`/listeners?loadbalancer_id=${made.id}`)) as readonly Attributes[]
    const counts = [pools.length, listeners.length, 0, 0, 0]
    for (const { id, healthmonitor_id: monitor } of pools) {
      counts[2]! += ((await of(`/pools/${String(id)}/members`)) as readonly unknown[]).length
      if (typeof monitor === 'string') counts[3]!++
    }
    for (const { l7policies } of listeners) counts[4]! += (l7policies as readonly unknown[]).length
    if (counts.join() !== '2,2,4,2,1')
      throw new CheckFailed(
        `pools, listeners, members, monitors and policies are ${counts.join(', ')}, not 2, 2, 4, 2, 1`,
      )
    for (const item of [...pools, ...listeners]) mustShow(item, { provisioning_status: 'ACTIVE' })
  })
  await trial.check('a pool without a name in it is 400', () =>
    trial.expect(400, 'POST', '/loadbalancers', {
      loadbalancer: {
        ...graph('bad'),
        listeners: [
          { name: 'l', protocol: 'HTTP', protocol_port: 80, default_pool: { ...pool('x', 1), name: undefined } },
        ],
      },
    }),
  )
  await trial.check('is not deleted while it has parts: 400', () =>
    trial.expect(400, 'DELETE', `/loadbalancers/${made.id}`),
  )
  await trial.check('is deleted with its parts by cascade', async () => {
    await trial.expect(204, 'DELETE', `/loadbalancers/${made.id}?cascade=true`)
    await trial.gone(`/loadbalancers/${made.id}`)
    for (const { id } of made['listeners'] as readonly Attributes[]) await trial.gone(`/listeners/${String(id)}`)
  })
}

/** Deletes all parts of a load balancer in random order, and then the load balancer. */
export async function checkDeletion(trial: Trial, lb: string): Promise<void> {
  trial.group('deletion')
  const { client, random } = trial.options
  const below = async (path: string): Promise<readonly string[]> =>
    (await client.list(path)).flatMap(({ id, loadbalancers, loadbalancer_id: own }) => {
      const parent = own ?? (loadbalancers as readonly Attributes[] | undefined)?.[0]?.['id']
      return parent === undefined || parent === lb ? [`${path}/${String(id)}`] : []
    })
  const listeners = await below('/listeners')
  const pools = await below('/pools')
  const ofListeners = new Set(listeners.map((path) => path.split('/').at(-1)))
  const policies = (await client.list('/l7policies')).filter(({ listener_id: id }) => ofListeners.has(String(id)))
  const ofPools = new Set(pools.map((path) => path.split('/').at(-1)))
  const monitors = (await client.list('/healthmonitors')).filter(({ pools: of }) =>
    (of as readonly Attributes[]).some(({ id }) => ofPools.has(String(id))),
  )
  const members = (await Promise.all(pools.map((path) => below(`${path}/members`)))).flat()
  const all = shuffled(
    [
      ...[...listeners, ...pools, ...members],
      ...policies.map(({ id }) => `/l7policies/${String(id)}`),
      ...monitors.map(({ id }) => `/healthmonitors/${String(id)}`),
    ],
    random,
  )
  await trial.check(`${all.length} parts in random order`, async () => {
    // A pool that a policy still redirects to is refused with 409, and tried again later. 404: the parent's deletion
    // deleted it.
    let left = all
    while (left.length > 0) {
      const refused: string[] = []
      for (const path of left) {
        const { status } = await client.ask('DELETE', path)
        if (status === 409) refused.push(path)
        else if (status !== 204 && status !== 404) throw new CheckFailed(`DELETE ${path} was answered ${status}`)
        await trial.settled(lb)
      }
      if (refused.length === left.length) throw new CheckFailed(`these cannot be deleted: ${refused.join(', ')}`)
      left = refused
    }
    for (const path of all) await trial.gone(path)
  })
  await trial.check('the load balancer, which is empty now', async () => {
    await trial.expect(204, 'DELETE', `/loadbalancers/${lb}`)
    await trial.gone(`/loadbalancers/${lb}`)
  })
  await trial.check('a change of the deleted load balancer is 404', () =>
    trial.expect(404, 'PUT', `/loadbalancers/${lb}`, { loadbalancer: { name: 'x' } }),
  )
}
