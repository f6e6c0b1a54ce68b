import type { AddressAdmission } from './address-admission.ts'
import type { BgpAdmission } from './bgp-admission.ts'
import type { CertificateAdmission } from './certificate-admission.ts'
import type { DomainAdmission } from './domain-admission.ts'
import type { DryRuns } from './dry-run.ts'
import type { LoadBalancerAdmission } from './load-balancer-admission.ts'
import type { NetworkAdmission } from './network-admission.ts'
import type { NodeAdmission } from './node-admission.ts'
import type { NodeGroupAdmission } from './node-group-admission.ts'
import type { OfferAdmission } from './offer-admission.ts'
import type { ProjectAdmission } from './project-admission.ts'
import type { SecretAdmission } from './secret-admission.ts'
import type { SecurityGroupAdmission } from './security-group-admission.ts'

/**
 * The one write path. Every method validates the whole result: the model's schema and cross-field rules, references,
 * quotas and addresses. It commits in one transaction, so a refused request stores nothing and takes no address. For
 * bad input all methods throw SpoutError and nothing else; its fields are paths in the given draft.
 */
export interface Admission
  extends LoadBalancerAdmission,
    DryRuns,
    NetworkAdmission,
    AddressAdmission,
    ProjectAdmission,
    DomainAdmission,
    NodeGroupAdmission,
    BgpAdmission,
    CertificateAdmission,
    SecretAdmission,
    SecurityGroupAdmission,
    OfferAdmission,
    NodeAdmission {}
