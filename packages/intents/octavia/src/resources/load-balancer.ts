import { MOST_SECURITY_GROUPS, type Vip } from '@spout/model'
import { type Snapshot, updatedAt, wireTime } from '../snapshots/snapshot.ts'
import { zoneNameOf } from '../terms/facts.ts'
import { validationFailure } from '../wire/fault.ts'
import { type Field, nested, printObject, rowsOf } from '../wire/field.ts'
import { boolean, ipAddress, list, nullable, text, uuid } from '../wire/wire-type.ts'
import { type ListenerSpec, nestedListener } from './listener.ts'
import { projectId } from './meta-fields.ts'
import { nestedPool, type PoolSpec } from './pool.ts'
import type { Resource } from './resource.ts'
import { restingField } from './resting-field.ts'

/** The requested source of an address; fields that were left out are null. */
export interface VipSpec {
  readonly portId: string | null
  readonly networkId: string | null
  readonly subnetId: string | null
  readonly address: string | null
}

/** A load balancer as a request describes it. */
export interface LoadBalancerSpec {
  /** An id that an administrator chose; null: a new one. */
  readonly id: string | null
  readonly name: string
  readonly description: string
  readonly enabled: boolean
  readonly tags: readonly string[]
  readonly projectId: string | null
  readonly provider: string | null
  readonly flavorId: string | null
  readonly zoneName: string | null
  readonly vip: VipSpec
  readonly additionalVips: readonly VipSpec[]
  readonly securityGroupIds: readonly string[]
  readonly listeners: readonly ListenerSpec[]
  readonly pools: readonly PoolSpec[]
}

export interface LoadBalancerReading {
  readonly snapshot: Snapshot
  /**
   * The VIPs that the load balancer was created with. Floating addresses, bound later, are shown by the network
   * service.
   */
  readonly vips: readonly Vip[]
}

const NO_VIP: VipSpec = { portId: null, networkId: null, subnetId: null, address: null }

export const blankLoadBalancer = (): LoadBalancerSpec => ({
  id: null,
  name: '',
  description: '',
  enabled: true,
  tags: [],
  projectId: null,
  provider: null,
  flavorId: null,
  zoneName: null,
  vip: NO_VIP,
  additionalVips: [],
  securityGroupIds: [],
  listeners: [],
  pools: [],
})

/** A public address shows its pool as its network and subnet, as the network API does. */
export const networkOf = (vip: Vip): string | null => vip.networkId ?? vip.poolId
export const subnetOf = (vip: Vip): string | null => vip.subnetId ?? vip.poolId

const row = rowsOf<LoadBalancerSpec, LoadBalancerReading>()
const prose = text({ max: 255 })

const vipField = (name: keyof VipSpec, wireName: string, print: (vip: Vip) => string | null) =>
  row(wireName, nullable(name === 'address' ? ipAddress : uuid), {
    since: 0,
    create: 'optional',
    default: null,
    write: (spec, value) => ({ ...spec, vip: { ...spec.vip, [name]: value } }),
    read: ({ vips: [vip] }) => (vip === undefined ? null : print(vip)),
  })

const additionalVipRow = rowsOf<VipSpec, Vip>()
const additionalVipFields: readonly Field<VipSpec, Vip>[] = [
  additionalVipRow('subnet_id', uuid, {
    since: 26,
    create: 'required',
    write: (spec, subnetId) => ({ ...spec, subnetId }),
    read: subnetOf,
  }),
  additionalVipRow('ip_address', nullable(ipAddress), {
    since: 26,
    create: 'optional',
    default: null,
    write: (spec, address) => ({ ...spec, address }),
    read: ({ address }) => address,
  }),
  additionalVipRow('port_id', nullable(uuid), {
    since: 26,
    create: 'optional',
    default: null,
    write: (spec, portId) => ({ ...spec, portId }),
    read: ({ addressId }) => addressId,
  }),
]

const ownerRow = (name: 'project_id' | 'tenant_id') =>
  row(name, projectId, {
    since: 0,
    create: 'optional',
    write: (spec, id) => ({ ...spec, projectId: projectId.queryText(id) }),
    read: ({ snapshot }) => snapshot.lb.projectId,
  })

const idsOf = (objects: readonly { readonly id: string }[]) => objects.map(({ id }) => ({ id }))

export const loadBalancerResource: Resource<LoadBalancerSpec, LoadBalancerReading> = {
  word: 'Load Balancer',
  root: 'loadbalancer',
  plural: 'loadbalancers',
  argument: 'load_balancer',
  fields: [
    row('id', uuid, {
      since: 0,
      create: 'administrator',
      write: (spec, id) => ({ ...spec, id }),
      read: ({ snapshot }) => snapshot.lb.id,
    }),
    row('name', prose, {
      since: 0,
      create: 'optional',
      update: true,
      default: '',
      write: (spec, name) => ({ ...spec, name }),
      read: ({ snapshot }) => snapshot.lb.name,
    }),
    row('description', prose, {
      since: 0,
      create: 'optional',
      update: true,
      default: '',
      write: (spec, description) => ({ ...spec, description }),
      read: ({ snapshot }) => snapshot.lb.description,
    }),
    row('admin_state_up', boolean, {
      since: 0,
      create: 'optional',
      update: true,
      default: true,
      ifNull: false,
      write: (spec, enabled) => ({ ...spec, enabled }),
      read: ({ snapshot }) => snapshot.lb.enabled,
    }),
    row('provisioning_status', text(), { since: 0, read: ({ snapshot }) => snapshot.provisioning }),
    row('operating_status', text(), { since: 0, read: ({ snapshot }) => snapshot.operating(snapshot.lb.id) }),
    ownerRow('project_id'),
    ownerRow('tenant_id'),
    row('created_at', text(), { since: 0, read: ({ snapshot }) => wireTime(snapshot.lb.createdAt) }),
    row('updated_at', text(), { since: 0, read: ({ snapshot }) => wireTime(updatedAt(snapshot, snapshot.lb)) }),
    vipField('address', 'vip_address', ({ address }) => address),
    vipField('portId', 'vip_port_id', ({ addressId }) => addressId),
    vipField('subnetId', 'vip_subnet_id', subnetOf),
    vipField('networkId', 'vip_network_id', networkOf),
    row(
      'additional_vips',
      list(
        nested(additionalVipFields, () => NO_VIP),
        15,
      ),
      {
        since: 26,
        create: 'optional',
        default: [],
        write: (spec, additionalVips) => ({ ...spec, additionalVips }),
        read: ({ vips }) => vips.slice(1).map((vip) => printObject(additionalVipFields, vip)),
      },
    ),
    row('provider', text({ max: 64 }), {
      since: 0,
      create: 'optional',
      write: (spec, provider) => ({ ...spec, provider }),
      read: ({ snapshot }) => snapshot.provider,
    }),
    row('listeners', list(nestedListener, 1000), {
      since: 0,
      create: 'optional',
      default: [],
      write: (spec, listeners) => ({ ...spec, listeners }),
      read: ({ snapshot }) => idsOf(snapshot.lb.listeners),
    }),
    row('pools', list(nestedPool, 1000), {
      since: 0,
      create: 'optional',
      default: [],
      write: (spec, pools) => ({ ...spec, pools }),
      read: ({ snapshot }) => idsOf(snapshot.lb.pools),
    }),
    row('tags', list(prose, 100), {
      since: 5,
      create: 'optional',
      update: true,
      default: [],
      write: (spec, tags) => ({ ...spec, tags: [...new Set(tags)] }),
      read: ({ snapshot }) => snapshot.lb.tags,
    }),
    row('flavor_id', nullable(uuid), {
      since: 6,
      create: 'optional',
      write: (spec, flavorId) => ({ ...spec, flavorId }),
      read: ({ snapshot }) => snapshot.lb.classId ?? null,
    }),
    row('availability_zone', nullable(prose), {
      since: 14,
      create: 'optional',
      write: (spec, zoneName) => ({ ...spec, zoneName }),
      read: ({ snapshot }) => zoneNameOf(snapshot.lb.annotations),
    }),
    restingField('vip_qos_policy_id', uuid, {
      since: 0,
      rest: null,
      refuse: () => validationFailure('VIP QoS policy is not allowed in this deployment.'),
    }),
    row('vip_vnic_type', text(), { since: 28, read: () => 'normal' }),
    row('vip_sg_ids', list(uuid, MOST_SECURITY_GROUPS), {
      since: 29,
      create: 'optional',
      update: true,
      default: [],
      write: (spec, ids) => ({ ...spec, securityGroupIds: [...new Set(ids)] }),
      read: ({ snapshot }) => snapshot.lb.securityGroupIds ?? [],
    }),
  ],
}
