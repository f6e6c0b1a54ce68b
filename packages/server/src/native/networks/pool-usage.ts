import type { ModelView, Principal } from '@spout/admission/contract'
import { type Address, type AddressPool, type PoolUsagePart, poolUsage } from '@spout/model'
import { parseIp, rangeContains } from '@spout/net'
import { poolMap, poolSpace, spaceSize } from '@spout/plan'
import { LongList } from '@spout/runtime'
import { isAdmin, mayKnow } from '../../authn/access.ts'
import { sendAsWritten } from '../../http/long-answer.ts'
import { shareOf } from '../../turns/share-of.ts'
import { find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { ADDRESS_POOLS, ADDRESSES } from './networks.ts'

/** Address pools as maps: what is free, taken and resting, and by whom. */
export const poolUsageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/address-pools/:id/usage',
    tag: 'address-pools',
    summary: 'Show a pool as a map: what is free, taken and resting, by whom; tenants see what they use',
    access: 'reader',
    body: null,
    answer: { status: 200, schema: poolUsage },
    handle: (context, { principal, params, reply }) => {
      const { view, clock, turns } = context
      const pool = find(ADDRESS_POOLS, context, principal, params.id ?? '')
      const now = clock.now().toISOString()
      const addresses = [...knownAddresses(view, principal, pool.id, now), ...adoptedAddresses(view, principal, pool)]
      const resting = addresses.filter(({ quarantineUntil }) => quarantineUntil !== null).length
      const seesAll = isAdmin(principal)
      const total = Number(spaceSize(poolSpace(pool)))
      const parts = [...poolMap(pool, addresses)].filter(({ state }) => seesAll || state === 'taken')
      const shown = LongList.of(
        parts,
        (part): PoolUsagePart =>
          part.state === 'taken' ? takenPart(view, part.address) : { ...part, by: null, restsUntil: null },
      )
      return sendAsWritten(reply, () => turns.next(shareOf(principal)), {
        ...{ total: seesAll ? total : null, free: seesAll ? Math.max(0, total - addresses.length) : null },
        ...{ taken: addresses.length - resting, resting, parts: shown },
      })
    },
  }),
]

/** What a map says of an address that somebody has. */
type Taken = Pick<Address, 'address' | 'use' | 'projectId' | 'ownerId' | 'quarantineUntil'>

/** Those that nodes carry by their own settings. The pool passes them over, though it did not give them out. */
function adoptedAddresses(view: ModelView, principal: Principal, pool: AddressPool): readonly Taken[] {
  const { ranges } = poolSpace(pool)
  const isIn = (address: string) => ranges.some((range) => rangeContains(range, parseIp(address)))
  return view
    .list('loadBalancer')
    .filter(({ localName, projectId }) => localName !== undefined && mayKnow(principal, projectId))
    .flatMap(({ id, projectId, vips }) => vips.map(({ address }) => ({ address, projectId, ownerId: id })))
    .filter(({ address }) => isIn(address))
    .map((one) => ({ ...one, use: 'vip', quarantineUntil: null }))
}

/** Those that the caller may know of. One whose rest is over is free, and only not yet swept away. */
const knownAddresses = (view: ModelView, principal: Principal, poolId: string, now: string): readonly Taken[] =>
  view
    .list('address')
    .filter(({ scope, holderId }) => scope === 'fabric' && holderId === poolId)
    .filter(({ quarantineUntil }) => quarantineUntil === null || quarantineUntil > now)
    .filter((address) => ADDRESSES.visible(principal, address))

function takenPart(
  view: Pick<ModelView, 'get'>,
  { address, use, projectId, ownerId, quarantineUntil }: Taken,
): PoolUsagePart {
  const loadBalancer = view.get('loadBalancer', ownerId ?? '')?.value
  return {
    ...{ first: address, last: address },
    state: quarantineUntil === null ? 'taken' : 'resting',
    by: {
      use,
      projectId,
      projectName: view.get('project', projectId ?? '')?.value.name ?? null,
      loadBalancerId: loadBalancer?.id ?? null,
      loadBalancerName: loadBalancer?.name ?? null,
    },
    restsUntil: quarantineUntil,
  }
}
