import type { LoadBalancerHealth } from '@spout/model'

export const SORTS = ['name', 'health', 'members', 'connections', 'bytes', 'created'] as const
export type Sort = (typeof SORTS)[number]

export const OWNER_KINDS = ['service', 'ingress', 'gateway', 'load-balancer', 'octavia', 'api'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]

const HEALTHS: readonly LoadBalancerHealth[] = ['ok', 'degraded', 'failed', 'pending', 'off']

/** What the table shows, as it stands in the URL. Absent fields do not narrow it. */
export interface TableSearch {
  /** Part of a name, address or id. */
  readonly text?: string | undefined
  readonly health?: LoadBalancerHealth | undefined
  readonly project?: string | undefined
  readonly owner?: OwnerKind | undefined
  /** Absent: worst health first. */
  readonly sort?: Sort | undefined
  readonly down?: boolean | undefined
}

/** Takes from a URL what is usable. Anybody can write anything there. */
export function tableSearch(search: Readonly<Record<string, unknown>>): TableSearch {
  const text = typeof search['text'] === 'string' || typeof search['text'] === 'number' ? String(search['text']) : ''
  const project = typeof search['project'] === 'string' ? search['project'] : ''
  const health = HEALTHS.find((one) => one === search['health'])
  const owner = OWNER_KINDS.find((one) => one === search['owner'])
  const sort = SORTS.find((one) => one === search['sort'])
  return {
    ...(text !== '' && { text }),
    ...(health && { health }),
    ...(project !== '' && { project }),
    ...(owner && { owner }),
    ...(sort && { sort }),
    ...(search['down'] === true && { down: true }),
  }
}
