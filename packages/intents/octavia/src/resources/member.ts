import { forbiddenRange, parseIp } from '@spout/net'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { OctaviaMember } from '../terms/octavia-resources.ts'
import { invalidOption, OctaviaFault } from '../wire/fault.ts'
import { type Field, nested, rowsOf } from '../wire/field.ts'
import { boolean, integer, ipAddress, nullable, type Stamp, uuid, type WireType } from '../wire/wire-type.ts'
import { blankMeta, metaFields, ownerFields } from './meta-fields.ts'
import type { Resource } from './resource.ts'
import { restingField } from './resting-field.ts'

export interface MemberReading extends OctaviaMember {
  readonly snapshot: Snapshot
}

/** A member before the request is read. The defaults and required fields of the table complete it. */
export const blankMember = (stamp: Stamp): OctaviaMember => ({
  model: {
    ...blankMeta(stamp),
    address: '',
    port: 0,
    subnetId: null,
    weight: 1,
    backup: false,
    monitorAddress: null,
    monitorPort: null,
  },
})

/** An address, and how the client wrote it. */
interface WrittenAddress {
  readonly address: string
  readonly text: string
}

/** Octavia answers with the text that the client sent. */
const endpointAddress: WireType<WrittenAddress> = {
  read: (value, at) => ({ address: memberAddress.read(value, at), text: String(value) }),
  ...(ipAddress.queryText === undefined ? {} : { queryText: ipAddress.queryText }),
}

/** Addresses that must not get traffic are refused with Octavia's fault for the metadata address. */
const memberAddress: WireType<string> = {
  ...ipAddress,
  read(value, at) {
    const address = ipAddress.read(value, at)
    if (forbiddenRange(parseIp(address)) !== null) throw invalidOption(address.toUpperCase(), 'member address')
    return address
  },
}

const row = rowsOf<OctaviaMember, MemberReading>()
const port = integer(1, 65_535)

const fields: readonly Field<OctaviaMember, MemberReading>[] = [
  ...metaFields<OctaviaMember, MemberReading>(),
  ...ownerFields<OctaviaMember, MemberReading>(),
  row('address', endpointAddress, {
    since: 0,
    create: 'required',
    write: (member, { address, text }) => ({
      ...member,
      model: { ...member.model, address, ...(text === address ? {} : { addressText: text }) },
    }),
    read: ({ model }) => model.addressText ?? model.address,
  }),
  row('protocol_port', port, {
    since: 0,
    create: 'required',
    write: (member, protocolPort) => ({ ...member, model: { ...member.model, port: protocolPort } }),
    read: ({ model }) => model.port,
  }),
  row('weight', integer(0, 256), {
    since: 0,
    create: 'optional',
    update: true,
    default: 1,
    write: (member, weight) => ({ ...member, model: { ...member.model, weight } }),
    read: ({ model }) => model.weight,
  }),
  row('backup', boolean, {
    since: 1,
    create: 'optional',
    update: true,
    default: false,
    write: (member, backup) => ({ ...member, model: { ...member.model, backup } }),
    read: ({ model }) => model.backup,
  }),
  row('subnet_id', nullable(uuid), {
    since: 0,
    create: 'optional',
    ifNull: null,
    write: (member, subnetId) => ({ ...member, model: { ...member.model, subnetId } }),
    read: ({ model }) => model.subnetId,
  }),
  row('monitor_address', nullable(endpointAddress), {
    since: 0,
    create: 'optional',
    update: true,
    default: null,
    write: ({ model: { monitorAddressText: _, ...model }, ...member }, written) => ({
      ...member,
      model: {
        ...model,
        monitorAddress: written?.address ?? null,
        ...(written === null || written.text === written.address ? {} : { monitorAddressText: written.text }),
      },
    }),
    read: ({ model }) => model.monitorAddressText ?? model.monitorAddress,
  }),
  row('monitor_port', nullable(port), {
    since: 0,
    create: 'optional',
    update: true,
    default: null,
    write: (member, monitorPort) => ({ ...member, model: { ...member.model, monitorPort } }),
    read: ({ model }) => model.monitorPort,
  }),
  row('vnic_type', nullable(uuid), { since: 30, read: () => 'normal' }),
  restingField('request_sriov', boolean, {
    since: 30,
    update: false,
    printed: false,
    rest: false,
    refuse: () => new OctaviaFault(400, 'The load balancer flavor does not allow SR-IOV member ports.'),
  }),
]

export const memberResource: Resource<OctaviaMember, MemberReading> = {
  word: 'Member',
  root: 'member',
  plural: 'members',
  argument: 'member_',
  fields,
}

const blankNested = nested(fields, blankMember)

/** A member in a pool that is created with it. */
export const nestedMember: WireType<OctaviaMember> = {
  read: (value, at) => (at.stamp.ahead?.get(value) as OctaviaMember | undefined) ?? blankNested.read(value, at),
}
