import {
  type ApplicationCredential,
  type BgpPeer,
  type Certificate,
  certificateUse,
  type EnrolmentToken,
  type LoadBalancer,
  type LoadBalancerStatus,
  type Node,
  type NodeGroup,
  REDACTED_SECRET,
  type Token,
  type User,
  validityOf,
} from '@spout/model'
import { JsonMap } from '../../http/json-pieces.ts'
import type { NativeContext } from './context.ts'

const statusShown = (status: LoadBalancerStatus) => ({
  ...status,
  members: new JsonMap(status.members),
  stats: new JsonMap(status.stats),
})

/** A load balancer with its status. */
export const shownLoadBalancer = (context: NativeContext, loadBalancer: LoadBalancer) => ({
  ...loadBalancer,
  status: {
    ...statusShown(context.status.loadBalancer(loadBalancer.id)),
    ...((loadBalancer.dnsNames ?? []).length > 0 && { dns: context.dns.names(loadBalancer.id) }),
  },
})

export const shownNode = (context: NativeContext, node: Node) => {
  const group = context.view.get('nodeGroup', node.nodeGroupId)?.value
  return {
    ...node,
    nodeGroupName: group?.name ?? null,
    announcer: group?.announcer ?? null,
    status: context.status.node(node.id),
  }
}

/** Never shows the key that its nodes share. */
export const shownNodeGroup = (_context: NativeContext, { flowsKey: _, ...group }: NodeGroup) => group

/** Never shows the secret. A placeholder says that there is one, and keeps the stored one when it is written back. */
export const shownBgpPeer = (_context: NativeContext, { md5Secret, ...peer }: BgpPeer) => ({
  ...peer,
  md5Secret: md5Secret === null || md5Secret === '' ? md5Secret : REDACTED_SECRET,
})

/** Never shows what its secret is compared with. */
export const shownApplicationCredential = (
  _context: NativeContext,
  { secretHash: _, ...credential }: ApplicationCredential,
) => credential

/** Never shows the private key, not even sealed. */
export const shownCertificate = (
  { clock }: Pick<NativeContext, 'clock'>,
  { sealedKey, ...certificate }: Certificate,
) => ({
  ...certificate,
  use: certificateUse({ ...certificate, sealedKey }),
  status: validityOf({ ...certificate, sealedKey }, clock.now().getTime()),
})

/** Never shows the password's hash. */
export const shownUser = (_context: NativeContext, { passwordHash, ...user }: User) => ({
  ...user,
  hasPassword: passwordHash !== null,
})

export const shownEnrolmentToken = (
  _context: NativeContext,
  { secretSha256: _, grant: __, ...token }: EnrolmentToken,
) => token

export const shownToken = ({ userId, projectId, roles, expiresAt }: Token) => ({ userId, projectId, roles, expiresAt })

/** Changes whenever the document does. `If-Match` is compared with it. */
export const etagOf = (loadBalancer: LoadBalancer): string =>
  `"${loadBalancer.generation}-${Date.parse(loadBalancer.updatedAt ?? loadBalancer.createdAt).toString(36)}"`
