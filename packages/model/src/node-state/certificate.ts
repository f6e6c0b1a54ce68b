/** A certificate that a node needs. `contentId` identifies one version of its chain and key. */
export interface NodeCertificate {
  readonly id: string
  readonly contentId: string
}
