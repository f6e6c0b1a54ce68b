import { type EnrolmentToken, type Node, node } from '@spout/model'
import { z } from 'zod'

/** What an administrator may change of a node; what is not named stays. */
export const nodeChange = z
  .strictObject({
    description: node.shape.description,
    scheduling: node.shape.scheduling,
    fabricAddress: node.shape.fabricAddress,
  })
  .partial()
export type NodeChange = z.input<typeof nodeChange>

/** Writes of nodes, and how they enrol. */
export interface NodeAdmission {
  createEnrolmentToken(
    draft: Pick<EnrolmentToken, 'nodeName' | 'nodeGroupId'> & { readonly ttlSeconds: number },
  ): Promise<{ readonly token: EnrolmentToken; readonly secret: string }>
  /**
   * Uses up the token with this secret: creates or re-certifies the node it names.
   * @param request what the certificate is asked for by: the same one is answered again while the node has what it got for it
   */
  enrolNode(
    secret: string,
    certificateSha256: (nodeId: string) => Promise<string>,
    request?: string | null,
  ): Promise<Node>
  /**
   * The same for a node that proved its name in another way. One that is known stays in the group that it is in.
   * @throws SpoutError ReferenceNotFound for a group that is not there
   */
  enrolNamedNode(
    node: { readonly nodeName: string; readonly nodeGroupId: string },
    certificateSha256: (nodeId: string) => Promise<string>,
  ): Promise<Node>
  changeNode(id: string, change: NodeChange): Promise<Node>
  setNodeScheduling(id: string, scheduling: Node['scheduling']): Promise<Node>
  deleteNode(id: string): Promise<void>
}
