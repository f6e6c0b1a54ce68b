import type { AddressAdmission } from './address-admission.ts'
import type { BgpAdmission } from './bgp-admission.ts'
import type { LoadBalancerAdmission } from './load-balancer-admission.ts'
import type { NetworkAdmission } from './network-admission.ts'
import type { NodeAdmission } from './node-admission.ts'
import type { NodeGroupAdmission } from './node-group-admission.ts'
import type { ProjectAdmission } from './project-admission.ts'

/**
 * The one write path. Every method checks the whole result against the model's schema, its cross-field rules,
 * references, quotas and addresses, and commits in one transaction: a refused request stores nothing and takes no address.
 * All throw SpoutError and nothing else for bad input; field names are paths in the given draft.
 */
export interface Admission
  extends LoadBalancerAdmission,
    NetworkAdmission,
    AddressAdmission,
    ProjectAdmission,
    NodeGroupAdmission,
    BgpAdmission,
    NodeAdmission {}
