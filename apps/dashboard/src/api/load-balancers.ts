import type { LoadBalancer, LoadBalancerRow } from '@spout/model'
import { type Answer, ask, askWithVersion } from './ask.ts'
import type { LoadBalancerExplanation } from './explanation.ts'
import type { ShownStatus } from './load-balancer-status.ts'
import { byName } from './rows-by-name.ts'

/** A load balancer's document with its status. */
export interface ShownLoadBalancer extends LoadBalancer {
  readonly status: ShownStatus
}

/** The rows of the table, by name. @param projectId for administrators; null: of all projects */
export async function listRows(projectId: string | null, signal: AbortSignal): Promise<readonly LoadBalancerRow[]> {
  const query = projectId === null ? '' : `?${new URLSearchParams({ project: projectId })}`
  const { items } = await ask<{ readonly items: readonly LoadBalancerRow[] }>(
    'GET',
    `/overview/load-balancers${query}`,
    { signal },
  )
  return byName(items)
}

/** The documents of all load balancers that the reader may see. */
export const listLoadBalancers = async (signal: AbortSignal): Promise<readonly ShownLoadBalancer[]> =>
  (await ask<{ readonly items: readonly ShownLoadBalancer[] }>('GET', '/load-balancers', { signal })).items

const pathOf = (id: string): string => `/load-balancers/${encodeURIComponent(id)}`

/** A load balancer, and the version that a change of it is for. */
export const readLoadBalancer = (id: string, signal: AbortSignal): Promise<Answer<ShownLoadBalancer>> =>
  askWithVersion('GET', pathOf(id), { signal })

export const explainLoadBalancer = (id: string, signal: AbortSignal): Promise<LoadBalancerExplanation> =>
  ask('GET', `${pathOf(id)}/explain`, { signal })

/** @param draft the body of `POST /load-balancers` */
export const createLoadBalancer = (draft: unknown): Promise<ShownLoadBalancer> =>
  ask('POST', '/load-balancers', { body: draft })

/** @param etag of the version that was read: another one is refused with 412 */
export const replaceLoadBalancer = (id: string, document: unknown, etag: string | null): Promise<ShownLoadBalancer> =>
  ask('PUT', pathOf(id), { body: document, ifMatch: etag })

export const deleteLoadBalancer = (id: string): Promise<void> => ask('DELETE', pathOf(id))

export interface MemberPlace {
  readonly id: string
  readonly poolId: string
  readonly memberId: string
}

export const changeMember = (
  { id, poolId, memberId }: MemberPlace,
  change: { readonly weight?: number; readonly enabled?: boolean },
): Promise<unknown> => ask('PATCH', `${pathOf(id)}/pools/${poolId}/members/${memberId}`, { body: change })
