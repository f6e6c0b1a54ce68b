import { isDeepStrictEqual } from 'node:util'
import { type EligibleNode, type KnownNetwork, keyOf, uidOf } from '@spout/connector'
import type { EndpointSlice, Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import type { PlannedGroup } from './unit-plan.ts'

/** The input of a unit's plan, except for certificates and settings. */
export interface UnitSight {
  readonly services: readonly Service[]
  readonly slices: readonly (readonly EndpointSlice[])[]
  readonly nodes: readonly EligibleNode[]
  readonly networks: readonly KnownNetwork[]
  readonly documents: readonly LoadBalancer[]
}

/** A group whose load balancer is as requested. It lacks the content, which is large and needed no more. */
export type SettledGroup = Omit<PlannedGroup, 'content'>

interface Settled {
  readonly sight: UnitSight
  readonly groups: readonly SettledGroup[]
}

/**
 * Remembers the units whose load balancers are as requested, with the input of their plans. While the input stays the
 * same, only statuses are written, and no plan with thousands of members is computed again.
 */
export class SettledUnits {
  readonly #byUnit = new Map<string, Settled>()

  /**
   * The groups of the unit, with its Services as they are now; null when the unit is unknown or its input has changed.
   */
  groupsOf(unit: string, sight: UnitSight): readonly SettledGroup[] | null {
    const known = this.#byUnit.get(unit)
    if (known === undefined || !isSameSight(known.sight, sight)) return null
    const now = new Map(sight.services.map((service) => [uidOf(service), service]))
    return known.groups.map(({ services, ...group }) => ({
      ...group,
      services: services.map((one) => ({ ...one, service: now.get(uidOf(one.service)) ?? one.service })),
    }))
  }

  put(unit: string, sight: UnitSight, groups: readonly SettledGroup[]): void {
    this.#byUnit.set(unit, { sight, groups })
  }

  forget(unit: string): void {
    this.#byUnit.delete(unit)
  }
}

const isSameSight = (a: UnitSight, b: UnitSight): boolean =>
  a.nodes === b.nodes &&
  a.networks === b.networks &&
  isSameList(a.documents, b.documents) &&
  areSameSlices(a.slices, b.slices) &&
  a.services.length === b.services.length &&
  a.services.every((service, at) => wantsTheSame(service, b.services[at]))

/** Whether the same Services have the same slice objects. */
export const areSameSlices = (a: UnitSight['slices'], b: UnitSight['slices']): boolean =>
  a.length === b.length && a.every((own, at) => isSameList(own, b[at] ?? []))

const isSameList = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at])

/** Ignores the status, which we and others write, and the version, which counts those writes. */
function wantsTheSame(a: Service, b: Service | undefined): boolean {
  if (b === undefined || keyOf(a) !== keyOf(b)) return false
  const { resourceVersion: _a, ...before } = a.metadata
  const { resourceVersion: _b, ...after } = b.metadata
  return isDeepStrictEqual(before, after) && isDeepStrictEqual(a.spec, b.spec)
}

/** Whether everything but the members is the same. Objects are compared by reference. */
export function differInMembersAlone(before: LoadBalancer, after: LoadBalancer): boolean {
  const { pools, generation: _g, updatedAt: _u, ...frame } = before
  if (!areSame(frame, after) || pools.length !== after.pools.length) return false
  return pools.every((pool, at) => {
    const { members: _m, updatedAt: _, ...own } = pool
    return pool === after.pools[at] || areSame(own, after.pools[at]!)
  })
}

const areSame = <T extends object>(some: T, all: T): boolean =>
  (Object.keys(some) as (keyof T)[]).every((field) => some[field] === all[field])
