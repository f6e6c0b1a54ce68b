import type { Attributes } from '@spout/octavia-client'
import { CheckFailed } from './result.ts'
import { mustShow, type Trial } from './trial.ts'

const NOBODY = '7c6c5a0e-0000-4000-8000-000000000000'
const COUNTERS = ['active_connections', 'bytes_in', 'bytes_out', 'request_errors', 'total_connections']

/** Load balancers themselves. @returns the id of one without children */
export async function checkLoadBalancers(trial: Trial): Promise<string | null> {
  const { prefix, vip } = trial.options
  trial.group('load balancers')
  const made = await trial.check('is made, and becomes ACTIVE', async () => {
    const fields = {
      name: `${prefix}-tree`,
      description: 'made by a check',
      tags: ['blue', 'round'],
      admin_state_up: true,
    }
    const answer = await trial.make('/loadbalancers', 'loadbalancer', { ...fields, ...vip })
    if (!['PENDING_CREATE', 'ACTIVE'].includes(String(answer['provisioning_status'])))
      throw new CheckFailed(`provisioning_status is ${String(answer['provisioning_status'])} after POST`)
    mustShow(answer, { ...fields, listeners: [], pools: [], project_id: answer['tenant_id'] })
    await trial.settled(answer.id)
    return answer
  })
  if (made === null) return null
  const lb = made.id
  for (const name of ['vip_address', 'vip_port_id', 'vip_network_id', 'vip_subnet_id', 'provider', 'created_at'])
    await trial.check(`the answer of POST has ${name}`, async () => {
      if (typeof made[name] !== 'string') throw new CheckFailed(`it is ${JSON.stringify(made[name])}`)
    })
  const path = `/loadbalancers/${lb}`
  await trial.check('is renamed, described, tagged and disabled', async () => {
    await trial.change(lb, path, 'loadbalancer', {
      ...{ name: `${prefix}-renamed`, description: 'changed', tags: ['red'], admin_state_up: false },
    })
    await trial.change(lb, path, 'loadbalancer', { admin_state_up: true })
  })
  await trial.check('what is left out of a change stays', async () => {
    await trial.change(lb, path, 'loadbalancer', { description: 'again' })
    mustShow(await trial.show(path, 'loadbalancer'), { name: `${prefix}-renamed`, tags: ['red'] })
  })
  await trial.check('has statistics', async () => {
    const stats = await trial.show(`${path}/stats`, 'stats')
    for (const name of COUNTERS) if (typeof stats[name] !== 'number') throw new CheckFailed(`${name} is not a number`)
  })
  await trial.check('has a status tree', async () => {
    const statuses = await trial.show(`${path}/status`, 'statuses')
    mustShow(statuses['loadbalancer'] as Attributes, { id: lb, provisioning_status: 'ACTIVE' })
  })
  await checkRefusals(trial, path)
  return lb
}

/** Checks requests that must be refused. @param path of an existing load balancer */
async function checkRefusals(trial: Trial, path: string): Promise<void> {
  trial.group('refusals')
  const { prefix, vip } = trial.options
  const refusals: readonly (readonly [
    what: string,
    status: number,
    method: string,
    path: string,
    fields: object | null,
  ])[] = [
    ['a load balancer without a network', 400, 'POST', '/loadbalancers', { name: `${prefix}-bad` }],
    ['an unknown attribute', 400, 'POST', '/loadbalancers', { ...vip, name: `${prefix}-bad`, colour: 'red' }],
    ['a name that is too long', 400, 'POST', '/loadbalancers', { ...vip, name: `${prefix}-${'x'.repeat(256)}` }],
    ['an unknown provider', 400, 'POST', '/loadbalancers', { ...vip, name: `${prefix}-bad`, provider: 'nobody' }],
    ['another address of a load balancer', 400, 'PUT', path, { vip_address: '192.0.2.250' }],
    ['an unknown load balancer', 404, 'GET', `/loadbalancers/${NOBODY}`, null],
    ['a change of an unknown one', 404, 'PUT', `/loadbalancers/${NOBODY}`, { name: 'x' }],
    ['the deletion of an unknown one', 404, 'DELETE', `/loadbalancers/${NOBODY}`, null],
  ]
  for (const [what, status, method, at, fields] of refusals)
    await trial.check(`${what} is ${status}`, () =>
      trial.expect(status, method, at, fields === null ? undefined : { loadbalancer: fields }),
    )
  for (const plural of ['listeners', 'pools', 'healthmonitors', 'l7policies'])
    await trial.check(`an unknown one of ${plural} is 404`, () => trial.expect(404, 'GET', `/${plural}/${NOBODY}`))
}

/** Checks that another project neither sees nor changes a load balancer whose id it knows: ids are no secret. */
export async function checkStranger(trial: Trial, lb: string): Promise<void> {
  trial.group('projects')
  const { stranger } = trial.options
  const calls: readonly (readonly [string, string, object | undefined])[] = [
    ['GET', `/loadbalancers/${lb}`, undefined],
    ['PUT', `/loadbalancers/${lb}`, { loadbalancer: { name: 'taken over' } }],
    ['DELETE', `/loadbalancers/${lb}?cascade=true`, undefined],
    ['POST', '/pools', { pool: { loadbalancer_id: lb, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } }],
  ]
  for (const [method, path, body] of calls) {
    const name = `another project's ${method} ${path.split('?')[0]!.replace(lb, 'ID')} is 403 or 404`
    if (stranger === null) trial.skip(name, 'no cloud of another project is named')
    else
      await trial.check(name, async () => {
        const { status } = await stranger.ask(method, path, body)
        if (status !== 403 && status !== 404) throw new CheckFailed(`it was answered ${status}`)
      })
  }
  const name = "another project's list does not show it"
  if (stranger === null) return trial.skip(name, 'no cloud of another project is named')
  await trial.check(name, async () => {
    const { body } = await stranger.ask('GET', `/loadbalancers?id=${lb}`)
    if (!same([], body['loadbalancers'])) throw new CheckFailed('it shows it')
  })
}

const same = (wanted: readonly unknown[], shown: unknown): boolean =>
  Array.isArray(shown) && shown.length === wanted.length
