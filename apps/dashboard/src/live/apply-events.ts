import type { LoadBalancerRow } from '@spout/model'
import type { QueryClient } from '@tanstack/react-query'
import { keys } from '../api/query-keys.ts'
import type { StreamEvent } from './event-splitter.ts'
import { patchedRows } from './patched-rows.ts'

interface Named {
  readonly id: string
}

/**
 * Brings what the page has read up to date. Rows come whole, and are put in their place; of other objects the page
 * reads anew what it shows.
 */
export function applyEvents(client: QueryClient, events: readonly StreamEvent[]): void {
  const rows = new Map<string, LoadBalancerRow | null>()
  const stale = new Map<string, readonly unknown[]>()
  const read = (key: readonly unknown[]) => stale.set(JSON.stringify(key), key)
  for (const { name, data } of events) {
    const said = JSON.parse(data) as Named & { readonly kind?: string }
    if (name === 'hello') read([])
    else if (name === 'row') rows.set(said.id, said as unknown as LoadBalancerRow)
    else if (name === 'gone') rows.set(said.id, null)
    else if (name === 'object' && said.kind !== undefined) read([said.kind])
    else if (name === 'node') read(['node'])
    if (name === 'load-balancer' || name === 'gone') read(['loadBalancer', said.id])
  }
  if (rows.size > 0) putRows(client, rows)
  if (stale.has('[]')) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] })
  else for (const queryKey of stale.values()) void client.invalidateQueries({ queryKey })
}

function putRows(client: QueryClient, changed: ReadonlyMap<string, LoadBalancerRow | null>): void {
  for (const [key] of client.getQueriesData({ queryKey: ['rows'] }))
    client.setQueryData<readonly LoadBalancerRow[]>(
      key,
      (rows) => rows && patchedRows(rows, changed, (key[1] as string | null | undefined) ?? null),
    )
}
