import { Refused } from '@spout/client/native-api'
import {
  firstGranted,
  type KnownLoadBalancers,
  type KnownPool,
  type LoadBalancerService,
  poolsHolding,
  type Refusal,
  reasonOf,
  type ShownLoadBalancer,
} from '@spout/connector'
import { externalAddresses } from '../to-model/external-ips.ts'

export interface ExternalsContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly pools: () => Promise<readonly KnownPool[]>
}

export interface BroughtExternals {
  readonly shown: ShownLoadBalancer
  /** Addresses that were refused, and why. */
  readonly refused: ReadonlyMap<string, Refusal>
}

/**
 * Adds the requested external addresses to a load balancer and removes the others. They are ordinary addresses of the
 * project: from a pool that is open to it, first come, first served.
 */
export async function bringExternals(
  context: ExternalsContext,
  wanted: readonly string[],
  shown: ShownLoadBalancer,
): Promise<BroughtExternals> {
  const { service, known } = context
  const { id } = shown.document
  const refused = new Map<string, Refusal>()
  let now = shown
  for (const address of externalAddresses(shown.document).filter((one) => !wanted.includes(one))) {
    now = await service.removeVip(id, address)
    known.answered(now)
  }
  const missing = wanted.filter((address) => !now.document.vips.some((vip) => vip.address === address))
  const pools = missing.length === 0 ? [] : await context.pools()
  for (const address of missing) {
    const candidates = poolsHolding(address, pools)
    try {
      if (candidates.length === 0)
        throw new Refused('AddressNotInPool', 'it is in none of the address pools of the project')
      now = await firstGranted({ candidates }, (vip) => service.addVip(id, vip))
      known.answered(now)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refused.set(address, { reason: error.code, field: 'spec.externalIPs', message: messageOf(error) })
    }
  }
  return { shown: now, refused }
}

/** The reason alone. The full message names a field of the native API, which the user never sees. */
const messageOf = ({ code, message }: Refused): string =>
  code === 'AddressTaken' ? 'it is already in use' : reasonOf(message)
