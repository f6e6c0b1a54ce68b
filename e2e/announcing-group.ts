import path from 'node:path'
import { bundled, run, type ShownLoadBalancer, type TestSystem, waitFor } from '@spout/testkit'
import { expect } from 'vitest'
import { vipOf } from './fixtures.ts'

/** An address as `GET /vips` shows it. */
export interface ShownVip {
  readonly state: string
  readonly announcer: string
  readonly shard: number | null
  readonly owners: readonly string[]
  readonly lastMove: { readonly node: string; readonly durationMs: number | null } | null
}

export const shownVip = (system: TestSystem, shown: ShownLoadBalancer): Promise<ShownVip> =>
  system.api(system.access.admin, 'GET', `/vips/${vipOf(shown)}`)

export async function schedule(
  system: TestSystem,
  node: string,
  scheduling: 'enabled' | 'cordoned' | 'draining',
): Promise<void> {
  const { id } = await system.nodeNamed(node)
  await system.api(system.access.admin, 'PUT', `/nodes/${id}/scheduling`, { scheduling })
}

/** `spout node move`, as the administrator. */
export async function moveNode(system: TestSystem, node: string, group: string): Promise<void> {
  expect(await spoutNode(system, 'move', node, group)).toContain(`Moved ${node} `)
}

/** What `spout node …` prints, as the administrator. */
export async function spoutNode(system: TestSystem, ...words: readonly string[]): Promise<string> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const { endpoint, admin } = system.access
  const argv = [process.execPath, program, 'node', ...words]
  const { stdout, stderr, code } = await run(argv, { env: { SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: admin.token } })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

interface NodeShards {
  readonly status: { readonly shards: readonly { readonly state: string }[] }
}

/** Waits until both nodes can take over any shard; a link that just came back does not suffice. */
export async function bothTakePart(system: TestSystem): Promise<void> {
  await waitFor(
    async () => {
      const { items } = await system.api<{ items: NodeShards[] }>(system.access.admin, 'GET', '/nodes')
      const states = items.flatMap(({ status }) => status.shards.map(({ state }) => state))
      return states.length === 2 * 4 && states.every((state) => state === 'master' || state === 'backup')
    },
    { what: 'both nodes to take part in every shard' },
  )
}
