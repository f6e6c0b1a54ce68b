import { formatIp, isIp, parseIp } from '@spout/net'
import { chooseAddresses, type FamilyChoice, type KnownPool, poolsHolding } from '../addresses/address-choice.ts'
import { reachableRequest, requiredButUnreachable, unreachableFamilies } from '../addresses/reach.ts'
import type { Refusal } from '../refusal.ts'
import type { AddressContext, WantedAddresses } from './wanted.ts'

/** A refusal that we decide, not the control plane. The code that reconciles the load balancer catches it. */
export class Unsatisfiable extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The address that the objects show is in no pool, but its pool may come back (see `Restoration`). */
export class PoolAwaited extends Unsatisfiable {
  constructor(address: string) {
    super({
      reason: 'AddressPoolAwaited',
      field: 'status.loadBalancer.ingress',
      message: `${address} is in no address pool of the control plane, which knows no load balancer of this cluster: it may be about to be configured again.`,
    })
  }
}

/**
 * Where the addresses of a load balancer may come from, by family.
 * @throws Unsatisfiable when the request cannot be satisfied
 */
export async function choicesOf(
  { pools: known, defaultPools, networks, awaitsPools }: AddressContext,
  { request, shownAddresses, fields }: WantedAddresses,
): Promise<readonly FamilyChoice[]> {
  const pools = await known()
  const lost = awaitsPools ? shownAddresses.find((address) => isIp(address) && !isInPool(address, pools)) : undefined
  if (lost !== undefined) throw new PoolAwaited(lost)
  const families = request.families.map(({ family }) => family)
  const unreachable = unreachableFamilies(families, networks, fields.families)
  const refusal = requiredButUnreachable(request, unreachable)
  if (refusal !== null) throw new Unsatisfiable(refusal)
  const chosen = chooseAddresses(reachableRequest(request, unreachable), pools, defaultPools, shownAddresses, fields)
  if ('refusal' in chosen) throw new Unsatisfiable(chosen.refusal)
  return chosen.value
}

const isInPool = (address: string, pools: readonly KnownPool[]): boolean =>
  poolsHolding(formatIp(parseIp(address)), pools).length > 0
