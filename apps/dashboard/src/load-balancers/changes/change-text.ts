import type { AuditRecord } from '@spout/model'

const VERBS: Readonly<Record<string, string>> = {
  POST: 'Created',
  PUT: 'Changed',
  PATCH: 'Changed',
  DELETE: 'Deleted',
}

const THINGS: Readonly<Record<string, string>> = {
  'load-balancers': 'the load balancer',
  loadbalancers: 'the load balancer',
  listeners: 'a listener',
  pools: 'a pool',
  members: 'a member',
  routes: 'a route',
  'route-changes': 'routes',
  'member-changes': 'members',
  healthmonitors: 'a health monitor',
  healthmonitor: 'the health monitor',
  l7policies: 'a route',
  rules: 'a condition of a route',
  vips: 'an address',
}

/**
 * What was done, in words: `Changed a member` for `PATCH /api/v1/load-balancers/:id/pools/:pool/members/:member`. An
 * operation without words of its own stays as it is.
 */
export function changeText({ operation }: Pick<AuditRecord, 'operation'>): string {
  const [method = '', path = ''] = operation.split(' ')
  const last = path.split('/').findLast((part) => part !== '' && !part.startsWith(':'))
  const verb = VERBS[method]
  const thing = THINGS[last ?? '']
  return verb === undefined || thing === undefined ? operation : `${verb} ${thing}`
}

/** How it ended: null when it was done. */
export const refusalText = ({ status, code }: Pick<AuditRecord, 'status' | 'code'>): string | null =>
  status < 400 ? null : `Refused (${code ?? status})`

const SURFACES: Readonly<Record<AuditRecord['surface'], string>> = {
  native: 'native API',
  octavia: 'Octavia API',
  identity: 'identity API',
  network: 'network API',
  'key-manager': 'key manager API',
  'agent-link': 'node',
}

export const surfaceText = ({ surface }: Pick<AuditRecord, 'surface'>): string => SURFACES[surface] ?? surface
