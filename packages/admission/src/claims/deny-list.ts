import {
  type Cidr,
  cidrContains,
  cidrsOverlap,
  firstIp,
  forbiddenOverlap,
  forbiddenRange,
  formatIp,
  type Ip,
  lastIp,
  parseCidr,
} from '@spout/net'
import type { AdmissionIndex } from '../indexes/admission-index.ts'

/**
 * Addresses to which no tenant may direct traffic, in any network: loopback, link-local, metadata and multicast; the
 * management networks; the nodes' fabric addresses; public addresses of load balancers.
 */
export class DenyList {
  readonly #index: AdmissionIndex
  readonly #management: readonly Cidr[]

  constructor(index: AdmissionIndex, managementCidrs: readonly string[]) {
    this.#index = index
    this.#management = managementCidrs.map((cidr) => parseCidr(cidr))
  }

  /** Why the address is forbidden, without revealing its owner; null if it is allowed. */
  whyForbidden(ip: Ip): string | null {
    const special = forbiddenRange(ip)
    if (special !== null) return special
    if (this.#management.some((cidr) => cidrContains(cidr, ip))) return 'a management address'
    const text = formatIp(ip)
    if (this.#index.isPublicAddressInUse(text)) return 'the address of a load balancer'
    if (this.#index.isNodeFabricAddress(text)) return 'the address of a node'
    return null
  }

  /** Why a tenant may not have this subnet; null if it may. */
  whyForbiddenSubnet(cidr: Cidr): string | null {
    const whole = forbiddenRange(firstIp(cidr))
    if (whole !== null && whole === forbiddenRange(lastIp(cidr))) return whole
    const special = forbiddenOverlap(cidr)
    return special === null ? this.#managementOverlap(cidr) : `it overlaps ${special}`
  }

  /** Why a tenant's route may not lead to any part of this prefix; null if it may. */
  whyForbiddenRoute(cidr: Cidr): string | null {
    const special = forbiddenOverlap(cidr)
    return special === null ? this.#managementOverlap(cidr) : `it overlaps ${special}`
  }

  #managementOverlap(cidr: Cidr): string | null {
    return this.#management.some((other) => cidrsOverlap(other, cidr)) ? 'it overlaps a management network' : null
  }
}
