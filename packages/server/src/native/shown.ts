import type { EnrolmentToken, LoadBalancer, LoadBalancerStatus, Node, Token, User } from '@spout/model'
import type { NativeContext } from './context.ts'

const statusShown = (status: LoadBalancerStatus) => ({
  ...status,
  members: Object.fromEntries(status.members),
  stats: Object.fromEntries(status.stats),
})

/** A load balancer with what became of it. */
export const shownLoadBalancer = (context: NativeContext, loadBalancer: LoadBalancer) => ({
  ...loadBalancer,
  status: statusShown(context.status.loadBalancer(loadBalancer.id)),
})

export const shownNode = (context: NativeContext, node: Node) => ({ ...node, status: context.status.node(node.id) })

/** Never the password's hash. */
export const shownUser = (_context: NativeContext, { passwordHash, ...user }: User) => ({
  ...user,
  hasPassword: passwordHash !== null,
})

export const shownEnrolmentToken = (_context: NativeContext, { secretSha256: _, ...token }: EnrolmentToken) => token

export const shownToken = ({ userId, projectId, roles, expiresAt }: Token) => ({ userId, projectId, roles, expiresAt })

/** Changes whenever the document does: what `If-Match` is compared with. */
export const etagOf = (loadBalancer: LoadBalancer): string =>
  `"${loadBalancer.generation}-${Date.parse(loadBalancer.updatedAt ?? loadBalancer.createdAt).toString(36)}"`
