import { bgpAdvertisement, bgpPeer } from './bgp.ts'
import { certificate } from './certificate.ts'
import { domainClaim } from './domain-claim.ts'
import { loadBalancer } from './load-balancer.ts'
import { address, addressPool, network } from './network.ts'
import { enrolmentToken, node } from './node.ts'
import { nodeGroup } from './node-group.ts'
import { availabilityZone, loadBalancerClass, octaviaProfile } from './offer.ts'
import { placement } from './placement.ts'
import { applicationCredential, customRole, project, quota, token, user } from './project.ts'
import { secret, secretContainer } from './secret.ts'
import { securityGroup } from './security-group.ts'

/** Every stored kind and its schema. A new kind is a file and a line here. */
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
