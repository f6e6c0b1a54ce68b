import type { Role } from '@spout/model'

/** What the roles of a session allow. The server decides; the page only leaves out what would be refused. */
export interface Rights {
  /** Read and change every project, and what belongs to the operator. */
  readonly operate: boolean
  /** Change load balancers and certificates of the project. */
  readonly balance: boolean
  /** Change everything else in the project. */
  readonly change: boolean
}

export function rightsOf(roles: readonly Role[]): Rights {
  const operate = roles.includes('admin')
  const change = operate || roles.includes('member') || roles.includes('load-balancer_member')
  return { operate, change, balance: change || roles.includes('balancer') }
}
