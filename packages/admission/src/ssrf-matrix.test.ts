import { randomUUID } from 'node:crypto'
import { recordFault } from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VipRequest } from './contract/load-balancer-admission.ts'
import {
  draftOf,
  listenerOf,
  memberOf,
  networkDraft,
  type Office,
  openOffice,
  poolOf,
  refusal,
  subnetDraft,
} from './testing/office.ts'

const MANAGEMENT = ['10.99.0.0/16', 'fd99::/32']

let office: Office
beforeEach(async () => {
  office = await openOffice({ managementCidrs: MANAGEMENT })
})
afterEach(() => office.close())

/** Addresses that must not be reached, in every form in which a client may write them. */
const MATRIX: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
  'this network': ['0.0.0.0', '0.1.2.3', '::'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', 'FD00:0EC2::0254'],
  'link-local and site-local': ['169.254.0.1', 'fe80::1', 'febf::1', 'fec0::1'],
  'multicast, broadcast, reserved': ['224.0.0.1', '239.1.2.3', '255.255.255.255', '240.0.0.1', 'ff02::1'],
  management: ['10.99.3.4', 'fd99::5'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:10.99.3.4'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::10.99.3.4', '::1.2.3.4'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::a63:304', '64:ff9b:1::a9fe:a9fe', '64:ff9b:1:ffff::1'],
  '6to4': ['2002:7f00:1::1', '2002:a63:304::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001:0:7f00:1::1', '2001::53aa:64c:0:5601:5601'],
  'numbers in other bases': [
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '127.1',
    '127.0.1',
  ],
  'other clothes': ['127.0.0.1.', '[::1]', 'fe80::1%eth0', '127.0.0.1/32', '127.0.0.1:80', ' 127.0.0.1', '127.0.0.1\n'],
  names: ['localhost', 'metadata.google.internal', '127.0.0.1.nip.io', '１２７.0.0.1', '127。0。0。1', '%3127.0.0.1'],
}
const cells = Object.entries(MATRIX).flatMap(([what, texts]) => texts.map((text) => [what, text] as const))

const PREFIXES = [
  ...['127.0.0.0/8', '0.0.0.0/0', '168.0.0.0/6', '169.254.169.0/24', '10.98.0.0/15', '10.99.7.0/24'],
  ...['::/0', '::/64', '64::/16', '64:ff9b::/96', '64:ff9b:1:2::/64', '2002:a63:304::/48', '2000::/3', '2001::/32'],
  ...['fd00:ec2::/64', 'fd00::/8', 'fd99:0:1::/48', 'fe80::/64', 'ff00::/8', '::ffff:0:0/96'],
]

const fromPool = (): VipRequest => ({ from: 'pool', poolId: office.pool.id, address: null })
const create = (fields: Record<string, unknown>) => {
  const pool = poolOf(randomUUID(), [{ ...memberOf(randomUUID(), '10.0.0.5'), ...fields }])
  const listener = listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })
  const draft = draftOf(office.project.id, [fromPool()], { pools: [pool], listeners: [listener] })
  return office.admission.createLoadBalancer(draft)
}
const createLogging = (address: string) => {
  const accessLog = { format: 'json', syslog: { address, port: 514, transport: 'udp' as const } }
  const listener = listenerOf(randomUUID(), 80, { protocol: 'http', accessLog })
  return office.admission.createLoadBalancer(draftOf(office.project.id, [fromPool()], { listeners: [listener] }))
}
/** Refused by the deny list or by the address's form, whatever the tenant's networks are. */
const CODES = ['AddressForbidden', 'InvalidField']

describe('no member leads to', () => {
  it.each(cells)('%s, written %j, by its address', async (_, address) => {
    const error = await refusal(create({ address }))
    expect(error.field).toBe('pools[0].members[0].address')
    expect(CODES).toContain(error.code)
  })

  it.each(cells)('%s, written %j, by its monitor address', async (_, monitorAddress) => {
    const error = await refusal(create({ monitorAddress }))
    expect(error.field).toBe('pools[0].members[0].monitorAddress')
    expect(CODES).toContain(error.code)
  })

  it.each(cells)('%s, written %j, as no receiver of access logs does', async (_, address) => {
    const error = await refusal(createLogging(address))
    expect(error.field).toBe('listeners[0].accessLog.syslog.address')
    expect(CODES).toContain(error.code)
  })

  it('any forbidden address, and the refusal changes nothing', async () => {
    const before = office.holdings()
    let refused = 0
    for (const [, address] of cells) {
      await refusal(create({ address }))
      refused++
    }
    expect(office.holdings()).toEqual(before)
    recordFault({
      fault: `${cells.length} addresses that no tenant may reach, in every form, as member and as monitor address`,
      outcome: 'refused, naming the field; nothing changed',
      figure: `${refused} of ${cells.length}`,
    })
  })
})

describe('a whole prefix is checked, not only its ends:', () => {
  it.each(PREFIXES)('no subnet %s', async (cidr) => {
    const error = await refusal(office.admission.addSubnet(office.network.id, subnetDraft(cidr, null)))
    expect(error.field).toBe('cidr')
    expect(['AddressForbidden', 'InvalidField']).toContain(error.code)
  })

  it('ordinary tenant prefixes are allowed', async () => {
    const network = await office.admission.createNetwork(networkDraft(office.stranger.id, 'snat'))
    const cidrs = ['10.1.0.0/16', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fd12::/48', '2001:db8::/64']
    for (const cidr of cidrs) await office.admission.addSubnet(network.id, subnetDraft(cidr, null))
    expect(office.view.get('network', network.id)?.value.subnets.map(({ cidr }) => cidr)).toEqual(cidrs)
  })
})

describe("access logs go to the load balancer's own network:", () => {
  it('a receiver in it decides which network that is', async () => {
    const made = await createLogging('10.0.0.9')
    expect(made.networkId).toBe(office.network.id)
  })

  it.each([
    ['no network of the project', '192.0.2.9', 'MemberOutsideNetworks'],
    ['the gateway of the subnet', '10.0.0.1', 'AddressForbidden'],
    ['the broadcast address of the subnet', '10.0.0.255', 'AddressForbidden'],
  ])('%s is refused', async (_, address, code) => {
    const error = await refusal(createLogging(address))
    expect(error).toMatchObject({ code, field: 'listeners[0].accessLog.syslog.address' })
  })

  it('its subnet stays while it is there', async () => {
    await createLogging('10.0.0.9')
    const error = await refusal(office.admission.removeSubnet(office.network.id, office.subnet.id))
    expect(error.code).toBe('InUse')
  })
})
