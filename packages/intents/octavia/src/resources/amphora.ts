import type { Amphora } from '../snapshots/amphorae.ts'
import { wireTime } from '../snapshots/snapshot.ts'
import { rowsOf } from '../wire/field.ts'
import { boolean, integer, ipAddress, text, uuid } from '../wire/wire-type.ts'
import type { Resource } from './resource.ts'

const row = rowsOf<never, Amphora>()

export const amphoraResource: Resource<never, Amphora> = {
  word: 'Amphora',
  root: 'amphora',
  plural: 'amphorae',
  argument: 'amphora',
  fields: [
    row('id', uuid, { since: 0, read: ({ id }) => id }),
    row('loadbalancer_id', uuid, { since: 0, read: ({ loadBalancer }) => loadBalancer.id }),
    row('compute_id', uuid, { since: 0, read: ({ nodeId }) => nodeId }),
    row('lb_network_ip', ipAddress, { since: 0, read: ({ address }) => address }),
    row('vrrp_ip', ipAddress, { since: 0, read: ({ vrrp, address }) => (vrrp === null ? null : address) }),
    row('ha_ip', ipAddress, { since: 0, read: ({ vip }) => vip?.address ?? null }),
    row('vrrp_port_id', uuid, { since: 0, read: ({ portId }) => portId }),
    row('ha_port_id', uuid, { since: 0, read: ({ vip }) => vip?.addressId ?? null }),
    // A node has one certificate for all its load balancers, and renews it itself.
    row('cert_expiration', text(), { since: 0, read: () => null }),
    row('cert_busy', boolean, { since: 0, read: () => false }),
    row('role', text(), { since: 0, read: ({ role }) => role }),
    row('status', text(), { since: 0, read: ({ status }) => status }),
    row('vrrp_interface', text(), { since: 0, read: () => null }),
    row('vrrp_id', integer(), { since: 0, read: ({ vrrp }) => vrrp?.routerId ?? null }),
    row('vrrp_priority', integer(), { since: 0, read: () => null }),
    row('cached_zone', text(), { since: 0, read: ({ zone }) => zone }),
    row('created_at', text(), { since: 1, read: ({ createdAt }) => wireTime(createdAt) }),
    row('updated_at', text(), { since: 1, read: ({ updatedAt }) => wireTime(updatedAt) }),
    row('image_id', uuid, { since: 1, read: () => null }),
    row('compute_flavor', text(), { since: 14, read: () => null }),
  ],
}
