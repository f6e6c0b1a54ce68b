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
  /** Those that cannot be had, and why. */
  readonly refused: ReadonlyMap<string, Refusal>
}

/**
 * Gives a load balancer the external addresses that are wanted and takes those away that are not any more. Each is one of
 * the project's as any other address: out of a pool that is open to it, and of who asked first.
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

/** The control plane names a field of its own call. */
const messageOf = ({ code, message }: Refused): string =>
  code === 'AddressTaken' ? 'it is already in use' : reasonOf(message)
