import type { NativeHelper } from '@spout/sys'
import type { DomainLayout } from './domain-layout.ts'
import { SEGMENT, UPLINK } from './domain-names.ts'
import type { Run } from './run.ts'

const PREFERENCE = 10
/** Of the domain's namespace, which has no other table of ours. */
const TABLE = 7100

/**
 * Leads what arrives from the segment to the uplink. A member may also be a client, and the route to it as a member leads
 * back to the segment. Resolves with the number of changes.
 */
export async function sendAnswersByUplink(run: Run, helper: NativeHelper, { names }: DomainLayout): Promise<number> {
  const { netns, namespace, root } = names
  let changes = 0
  for (const family of ['-4', '-6']) {
    const shown = await run('ip', ['-n', namespace, family, '-N', '-j', 'rule', 'show'])
    const rules = JSON.parse(shown) as readonly { readonly priority: number; readonly iif?: string }[]
    if (rules.some(({ priority, iif }) => priority === PREFERENCE && iif === SEGMENT)) continue
    const rule = ['rule', 'add', 'preference', String(PREFERENCE), 'iif', SEGMENT, 'lookup', String(TABLE)]
    await run('ip', ['-n', namespace, family, ...rule])
    changes++
  }
  const there = new Set((await helper.routeList({ netns, table: TABLE })).map(({ to }) => to))
  const absent = [
    { to: '0.0.0.0/0', via: root.ipv4 },
    { to: '::/0', via: root.ipv6 },
  ].filter(({ to }) => !there.has(to))
  if (absent.length === 0) return changes
  const added = absent.map((route) => ({ do: 'replace' as const, table: TABLE, dev: UPLINK, ...route }))
  await helper.route({ netns, changes: added })
  return changes + 1
}
