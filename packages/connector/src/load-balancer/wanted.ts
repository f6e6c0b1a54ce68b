import type { Refused } from '@spout/client/native-api'
import type { KnownPool } from '../addresses/address-choice.ts'
import type { AddressFields, AddressRequest } from '../addresses/address-request.ts'
import type { KnownNetwork } from '../addresses/reach.ts'
import type { LoadBalancerContent } from '../content/content.ts'
import type { OwnerKind } from '../content/owners.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import type { Refusal } from '../refusal.ts'
import type { LeftOut } from './left-out.ts'

/** The wanted addresses of one load balancer, which is for one object of the cluster or for several that share it. */
export interface WantedAddresses {
  /** Id of the existing load balancer; null creates one. */
  readonly heldBy: string | null
  readonly request: AddressRequest
  /** UID of the object from which a new load balancer derives its id; null when none may be created. */
  readonly founder: string | null
  /** Addresses in the statuses of the objects. They are tried first, in case the control plane lost its state. */
  readonly shownAddresses: readonly string[]
  /** The fields in which the objects request addresses. */
  readonly fields: AddressFields
  /** Translates a refusal of the control plane to the fields of the objects. */
  readonly inOwnWords: (refused: Refused) => Refusal
}

/** The desired state of one load balancer. */
export interface WantedLoadBalancer extends WantedAddresses {
  readonly content: LoadBalancerContent
}

/** What reconciling addresses needs. */
export interface AddressContext {
  readonly service: Pick<LoadBalancerService, 'loadBalancerClass' | 'quota' | 'delete' | 'addVip' | 'removeVip'>
  readonly known: KnownLoadBalancers
  /** Names of pools for objects that name none; empty allows any pool. */
  readonly defaultPools: readonly string[]
  /** Reads the pools that the project may use. */
  readonly pools: () => Promise<readonly KnownPool[]>
  /** Networks of the project. An address of a family that none of them has is not requested. */
  readonly networks: readonly KnownNetwork[]
  /** Whether to wait for the pool of an address that the objects show but no pool contains (see `Restoration`). */
  readonly awaitsPools: boolean
}

/** What reconciling load balancers needs. */
export interface BringContext extends AddressContext {
  readonly service: LoadBalancerService
  readonly leftOut: LeftOut
  readonly kind: OwnerKind
  readonly projectId: string
  readonly cluster: string
  /** How many milliseconds a creation may wait to share a call with others. */
  readonly patienceMs: () => number
}
