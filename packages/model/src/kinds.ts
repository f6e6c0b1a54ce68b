import { bgpAdvertisement, bgpPeer } from './announcers/bgp-peer.ts'
import { certificate } from './certificates/certificate.ts'
import { secret, secretContainer } from './certificates/secret.ts'
import { loadBalancer } from './load-balancers/load-balancer.ts'
import { availabilityZone, loadBalancerClass, octaviaProfile } from './load-balancers/offer.ts'
import { placement } from './load-balancers/placement.ts'
import { address, addressPool, network } from './networks/network.ts'
import { securityGroup } from './networks/security-group.ts'
import { enrolmentToken, node } from './nodes/node.ts'
import { nodeGroup } from './nodes/node-group.ts'
import { domainClaim } from './projects/domain-claim.ts'
import { applicationCredential, customRole, project, quota, token, user } from './projects/project.ts'

/** All stored kinds with their schemas. A new kind is a file and a line here. */
export const KINDS = {
  loadBalancer,
  loadBalancerClass,
  availabilityZone,
  octaviaProfile,
  network,
  addressPool,
  address,
  node,
  nodeGroup,
  enrolmentToken,
  bgpPeer,
  bgpAdvertisement,
  certificate,
  secret,
  secretContainer,
  securityGroup,
  placement,
  project,
  domainClaim,
  quota,
  user,
  customRole,
  applicationCredential,
  token,
} as const
export type Kind = keyof typeof KINDS
