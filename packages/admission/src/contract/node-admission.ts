import { clusterWish, type EnrolmentToken, type Node, node } from '@spout/model'
import { z } from 'zod'

/** What an administrator may change of a node. Fields that are absent keep their values. */
export const nodeChange = z
  .strictObject({
    description: node.shape.description,
    scheduling: node.shape.scheduling,
    /** Another group. Only a draining node may leave its own. */
    nodeGroupId: node.shape.nodeGroupId,
    /** Null: its cluster has no objection any more. */
    clusterScheduling: clusterWish.nullable(),
    fabricAddress: node.shape.fabricAddress,
  })
  .partial()
export type NodeChange = z.input<typeof nodeChange>

/** Writes of nodes, and their enrolment. */
export interface NodeAdmission {
  createEnrolmentToken(
    draft: Pick<EnrolmentToken, 'nodeName' | 'nodeGroupId'> & { readonly ttlSeconds: number },
  ): Promise<{ readonly token: EnrolmentToken; readonly secret: string }>
  /**
   * Uses up the token with this secret: creates the node that it names, or gives it a new certificate.
   * @param request identifies the certificate request. A repeated one is answered again while the node has the
   * certificate it got for it
   */
  enrolNode(
    secret: string,
    certificateSha256: (nodeId: string) => Promise<string>,
    request?: string | null,
  ): Promise<Node>
  /**
   * Enrols a node that proved its name in another way. A known node stays in its group.
   * @throws SpoutError ReferenceNotFound for an unknown group
   */
  enrolNamedNode(
    node: { readonly nodeName: string; readonly nodeGroupId: string },
    certificateSha256: (nodeId: string) => Promise<string>,
  ): Promise<Node>
  changeNode(id: string, change: NodeChange): Promise<Node>
  setNodeScheduling(id: string, scheduling: Node['scheduling']): Promise<Node>
  deleteNode(id: string): Promise<void>
}
