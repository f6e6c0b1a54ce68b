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

/** What is wanted of one load balancer, for one object of the cluster or for several that share its address. */
export interface WantedLoadBalancer {
  /** The one that is there already; null makes one. */
  readonly heldBy: string | null
  readonly request: AddressRequest
  readonly content: LoadBalancerContent
  /** UID of the object that a new one gets its id from; null makes none. */
  readonly founder: string | null
  /** Addresses that the objects show: they are tried first, for a control plane that lost its state. */
  readonly shownAddresses: readonly string[]
  /** Where the objects say which addresses they want. */
  readonly fields: AddressFields
  /** A refusal of the control plane in the objects' own words. */
  readonly inOwnWords: (refused: Refused) => Refusal
}

/** What load balancers are brought to what is wanted with. */
export interface BringContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly leftOut: LeftOut
  readonly kind: OwnerKind
  readonly projectId: string
  readonly cluster: string
  /** Names of pools for objects that name none; empty takes any. */
  readonly defaultPools: readonly string[]
  readonly pools: () => Promise<readonly KnownPool[]>
  /** Of the project: an address of a family that none of them has is not asked for. */
  readonly networks: readonly KnownNetwork[]
  /** Addresses that the objects show and the control plane does not know may come back with their pools. */
  readonly awaitsPools: boolean
  /** How long what is made may wait for others that are made with it. */
  readonly patienceMs: () => number
}
