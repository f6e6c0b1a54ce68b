import { type Address, type AddressPool, uuid } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { queryOf } from '../http/query.ts'
import type { NetworkContext } from './context.ts'
import type { Shown } from './listing.ts'
import { shownPoolNetwork, shownPoolSubnet, shownPort } from './shown.ts'

const meta = (id: string) => ({ id, name: '', description: '', createdAt: '1970-01-01T00:00:00.000Z', updatedAt: null })

/** RFC 5737: an address that is nobody's. */
const pool = (id: string): AddressPool => ({
  ...meta(id),
  cidr: '198.51.100.0/24',
  ranges: [{ first: '198.51.100.1', last: '198.51.100.254' }],
  gatewayIp: null,
  projectIds: null,
  quarantineSeconds: 0,
  draining: false,
})
const address = (id: string): Address => ({
  ...meta(id),
  tags: [],
  portId: id,
  address: '198.51.100.1',
  scope: 'tenant',
  holderId: id,
  subnetId: id,
  projectId: null,
  use: 'port',
  ownerId: null,
  quarantineUntil: null,
})

const MADE_UP: Readonly<Record<'networks' | 'subnets' | 'ports', (context: NetworkContext, id: string) => Shown>> = {
  networks: (_, id) => shownPoolNetwork(pool(id)),
  subnets: (_, id) => shownPoolSubnet(pool(id)),
  ports: ({ view }, id) => shownPort(view, address(id)),
}

/**
 * The known objects, and a made-up one if the request filters the list by an unknown id. That is so with `octavia.noop`
 * alone, where any UUID counts as a network, a subnet and a port: clients such as `openstack` look up an object before
 * they name it.
 */
export function withAnyId(
  context: NetworkContext,
  request: FastifyRequest,
  plural: keyof typeof MADE_UP,
  known: readonly Shown[],
): readonly Shown[] {
  const [id, ...more] = context.anyId === true ? (queryOf(request).get('id') ?? []) : []
  if (id === undefined || more.length > 0 || !uuid.safeParse(id).success) return known
  return known.some((item) => item['id'] === id) ? known : [...known, MADE_UP[plural](context, id)]
}
