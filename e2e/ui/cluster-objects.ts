import type { Visit } from '@spout/testkit/browser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, balancer } from '../fixtures.ts'
import { isComplete } from './walk.ts'
import type { World } from './world.ts'

/** Load balancers as connectors make them: each names its objects and their cluster. */
const MADE = [
  { name: 'shop/web', annotations: { 'kubernetes.cluster': 'prod-1', 'kubernetes.service.0b7e': 'shop/web' } },
  {
    name: 'shop/ingress',
    annotations: { 'kubernetes.ingress.1': 'shop/one', 'kubernetes.ingress.2': 'shop/two' },
  },
  // Its name would send the credentials of whoever pastes the command to somebody else.
  { name: 'bait', annotations: { 'kubernetes.gateway.3': 'shop/--server=https://evil.example' } },
] as const

/** What a connector made is shown as the object that it was made for. */
export function clusterObjects(world: () => World): void {
  let visit: Visit
  const ids: string[] = []
  beforeAll(async () => {
    const { system, acme } = world()
    for (const [index, { name, annotations }] of MADE.entries()) {
      const document = { ...balancer('made', 'tcp', { port: 7101 + index }), name, annotations }
      ids.push((await system.createLoadBalancer(acme, document)).id)
    }
    visit = await world().loggedIn(ACME)
  })
  afterAll(async () => {
    await visit?.[Symbol.asyncDispose]()
    const { system, acme } = world()
    for (const id of ids) await system.api(acme, 'DELETE', `/load-balancers/${id}`)
  })

  const open = async (name: string) => {
    await visit.page.goto('/ui/load-balancers')
    await visit.page.getByRole('link', { name, exact: true }).click()
    await visit.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await visit.page.getByRole('tab', { name: 'As text', exact: true }).click()
    await visit.page.getByRole('region', { name: 'openstack' }).waitFor()
    await isComplete(visit.page)
  }
  const kubectl = () => visit.page.getByRole('region', { name: 'kubectl' })

  it('in the table, which finds it by kind and by cluster', async () => {
    const { page } = visit
    await page.getByText('Service shop/web in prod-1').waitFor()
    await page.goto('/ui/load-balancers?owner=service&text=prod-1')
    await page.getByRole('link', { name: 'shop/web', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'shop/ingress', exact: true }).count()).toBe(0)
  })

  it('above its path, with the command that shows the object', async () => {
    await open('shop/web')
    await visit.page.getByText('Made for Service shop/web in cluster prod-1').waitFor()
    await visit.page.getByRole('button', { name: 'Copy kubectl command' }).waitFor()
    expect(await kubectl().innerText()).toContain('kubectl describe service web --namespace shop')
  })

  it('with all objects that share it', async () => {
    await open('shop/ingress')
    await visit.page.getByText('Made for Ingress shop/one, Ingress shop/two, which').waitFor()
    const text = await kubectl().innerText()
    for (const name of ['one', 'two']) expect(text).toContain(`kubectl describe ingress ${name} --namespace shop`)
  })

  it('without a command for a name that no object has', async () => {
    await open('bait')
    await visit.page.getByText('Made for Gateway shop/--server=https://evil.example').waitFor()
    expect(await kubectl().count()).toBe(0)
    expect(await visit.page.getByRole('button', { name: 'Copy kubectl command' }).count()).toBe(0)
  })
}
