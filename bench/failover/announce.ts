import { callApi } from '@spout/testkit'
import type { SpoutBed } from '../bed/spout-bed.ts'
import { ROUTER } from './bird.ts'
import { type Announcer, SPOUT_ADDRESSES } from './spout-pair.ts'

const LOCAL_AS = 64_513
/** Not in the fabric's subnet: reached only by a route. */
const ROUTED = { cidr: '192.0.2.0/24', first: '192.0.2.128', last: '192.0.2.250' }

/** Sets the announcer of the lab's node group; `SPOUT_BENCH_ANNOUNCER` overrides it. */
export async function announceBy({ access }: SpoutBed, preferred: Announcer): Promise<Announcer> {
  const announcer = (process.env['SPOUT_BENCH_ANNOUNCER'] as Announcer | undefined) ?? preferred
  if (announcer === 'l2') return announcer
  const { endpoint, admin } = access
  const { items } = await callApi<{ items: { id: string }[] }>(endpoint, admin.token, 'GET', '/node-groups')
  const body = announcer === 'bgp' ? { announcer, bgp: { localAs: LOCAL_AS } } : { announcer }
  for (const { id } of items) await callApi(endpoint, admin.token, 'PATCH', `/node-groups/${id}`, body)
  return announcer
}

/** The lab's nodes as the router's neighbours. */
export const SPOUT_NEIGHBOURS = SPOUT_ADDRESSES.map((address) => ({
  address,
  as: LOCAL_AS,
  bfd: true,
}))

/** Makes every node peer with the lab's router; the BFD profile can be changed later. */
export async function peerWithRouter({ access }: SpoutBed): Promise<(bfd: 'default' | 'fast') => Promise<void>> {
  const { endpoint, admin } = access
  const body = { name: 'router', address: ROUTER.address, as: ROUTER.as, bfd: 'default' }
  const { id } = await callApi<{ id: string }>(endpoint, admin.token, 'POST', '/bgp-peers', body)
  return async (bfd) => void (await callApi(endpoint, admin.token, 'PATCH', `/bgp-peers/${id}`, { bfd }))
}

/** Public addresses that are announced to the router. */
export async function createRoutedPool({ access }: SpoutBed): Promise<string> {
  const { cidr, first, last } = ROUTED
  const body = { name: 'routed', ranges: [{ first, last }], cidr, gatewayIp: null }
  return (await callApi<{ id: string }>(access.endpoint, access.admin.token, 'POST', '/address-pools', body)).id
}
