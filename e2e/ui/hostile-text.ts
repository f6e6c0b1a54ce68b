import { expect, it } from 'vitest'
import { ACME, balancer, member } from '../fixtures.ts'
import { isComplete, walk } from './walk.ts'
import type { World } from './world.ts'

/** Names as a tenant may choose them. Each is text for people who look, whatever it looks like to a browser. */
const NAMES = [
  '<img src=x onerror=globalThis.wasRun=true>',
  '"><script>globalThis.wasRun=true</script>',
  'javascript:globalThis.wasRun=true',
  '{{constructor.constructor("return 1")()}}',
  'موازن الأحمال',
] as const

export function hostileText(world: () => World): void {
  it('names with markup and right-to-left text are shown as they are, and change nothing else', async () => {
    const { system, acme } = world()
    const ids: string[] = []
    for (const [index, name] of NAMES.entries()) {
      const { id } = await system.createLoadBalancer(acme, {
        ...balancer('hostile', 'tcp', { port: 7001 + index }),
        name,
      })
      ids.push(id)
    }
    await using visit = await world().loggedIn(ACME)
    const { page } = visit
    for (const name of NAMES) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      await isComplete(page)
      expect(await page.title()).toContain(name)
      await page.goBack()
    }
    expect(await page.evaluate('globalThis.wasRun')).toBeUndefined()
    for (const id of ids) await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    for (const name of NAMES) await page.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' })
  })

  it('so are the names of all parts of a load balancer, in every view of it, and of a project, for operators', async () => {
    const { system, acme } = world()
    const [markup, script, link, template, rightToLeft] = NAMES
    const { id } = await system.createLoadBalancer(acme, {
      ...{ name: markup, description: script },
      listeners: [{ name: script, protocol: 'http', port: 7101, defaultPool: link }],
      pools: [
        {
          name: link,
          protocol: 'http',
          members: [member(1, 8080, { name: rightToLeft }), member(2, 8080, { name: template })],
        },
      ],
    })
    const { id: projectId } = await system.api<{ id: string }>(system.access.admin, 'POST', '/projects', {
      name: script,
    })
    await using visit = await world().loggedIn(system.access.admin)
    const { page } = visit
    const nothingRan = async () => expect(await page.evaluate('globalThis.wasRun')).toBeUndefined()
    for (const view of ['path', 'members']) {
      await page.goto(`/ui/load-balancers/${id}?view=${view}`)
      for (const name of [link, template, rightToLeft]) await page.getByText(name, { exact: true }).first().waitFor()
    }
    await page.goto('/ui/projects')
    await page.getByText(script, { exact: true }).first().waitFor()
    const views = ['path', 'members', 'charts', 'changes', 'text', 'edit']
    await walk(page, nothingRan, [
      '/ui/load-balancers',
      ...views.map((view) => `/ui/load-balancers/${id}?view=${view}`),
    ])
    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    await system.api(system.access.admin, 'DELETE', `/projects/${projectId}`)
  })
}
