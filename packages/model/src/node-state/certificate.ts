/** A certificate that a node needs. `contentId` names one version of chain and key. */
export interface NodeCertificate {
  readonly id: string
  readonly contentId: string
}
