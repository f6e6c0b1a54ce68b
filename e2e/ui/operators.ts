import { askOn, type ShownNode, waitFor } from '@spout/testkit'
import { expect, it } from 'vitest'
import { balancer, vipOf } from '../fixtures.ts'
import type { World } from './world.ts'

const NODE = 'node2'
const OTHER = 'node1'

/** What an operator does with nodes, by keyboard and mouse in one page. */
export function operators(world: () => World): void {
  it('drains a node after a question, sees how far it is, and takes it into use again', async () => {
    const { system } = world()
    await using visit = await world().loggedIn(system.access.admin, 'nodes')
    const { page } = visit
    const owned = await mastersOf(world(), NODE)
    await page.getByRole('button', { name: `Drain ${NODE}` }).click()
    const question = page.getByRole('alertdialog')
    await question.getByRole('heading', { name: 'What moves' }).waitFor()
    for (const shard of owned) await question.getByText(`Shard ${shard} → ${OTHER}`).waitFor()
    await question.getByRole('button', { name: 'Drain', exact: true }).click()
    await page.getByRole('button', { name: `Undrain ${NODE}` }).waitFor()
    await page.getByText('drained', { exact: true }).waitFor()
    expect((await system.nodeNamed(NODE)) as object).toMatchObject({ scheduling: 'draining' })
    await waitFor(
      async () => {
        const masters = await mastersOf(world(), OTHER)
        return owned.every((shard) => masters.includes(shard))
      },
      { what: `${OTHER} to have the shards that it was said to get` },
    )
    await page.getByText(`${NODE}: drained`).first().waitFor()
    await page.getByRole('button', { name: `Undrain ${NODE}` }).click()
    await page.getByRole('button', { name: `Drain ${NODE}` }).waitFor()
    await waitFor(async () => (await system.nodeNamed(NODE)).status.inSync, { what: `${NODE} to be in use` })
  })

  it('sees the traffic of a node, of whatever tenant it is', async () => {
    const { system, acme, client } = world()
    const made = await system.createLoadBalancer(acme, balancer('busy', 'http', { port: 7201 }))
    const requests = askOn(() => client.http(vipOf(made), 7201), 50)
    try {
      const carrier = await waitFor(() => nodeWithTraffic(world()), { what: 'a node to have counted it' })
      await using visit = await world().loggedIn(system.access.admin, `nodes/${carrier}`)
      const traffic = visit.page.getByRole('region', { name: 'Traffic' })
      await traffic.getByText(/^connections: now /).waitFor()
      await traffic.locator('canvas').first().waitFor()
    } finally {
      await requests.stop()
      await system.api(acme, 'DELETE', `/load-balancers/${made.id}`)
    }
  })

  it('sees a node that no longer reports, without another look', async () => {
    const { system } = world()
    await using visit = await world().loggedIn(system.access.admin, 'nodes')
    const { page } = visit
    const row = page.getByRole('row', { name: new RegExp(`^${NODE}`) })
    await row.getByText('ready', { exact: true }).waitFor()
    const agent = system.lab.process(`agent-${NODE}`)!
    process.kill(agent.pid, 'SIGSTOP')
    try {
      await row.getByText('not connected', { exact: true }).waitFor()
    } finally {
      process.kill(agent.pid, 'SIGCONT')
    }
    await row.getByText('ready', { exact: true }).waitFor()
  })
}

/** The numbers of the shards whose master the node is. */
async function mastersOf({ system }: World, name: string): Promise<readonly number[]> {
  const { status } = (await system.nodeNamed(name)) as ShownNode & {
    readonly status: { readonly shards: readonly { readonly number: number; readonly state: string }[] }
  }
  return status.shards.filter(({ state }) => state === 'master').map(({ number }) => number)
}

/** The id of a node that counts connections; null while none does. */
async function nodeWithTraffic({ system }: World): Promise<string | null> {
  const { admin } = system.access
  const { items } = await system.api<{ items: readonly { id: string }[] }>(admin, 'GET', '/nodes')
  for (const { id } of items) {
    const { series } = await system.api<{ series: Readonly<Record<string, readonly (number | null)[]>> }>(
      ...([admin, 'GET', `/nodes/${id}/figures`] as const),
    )
    if (series['connectionsPerSecond']?.some((rate) => (rate ?? 0) > 1)) return id
  }
  return null
}
