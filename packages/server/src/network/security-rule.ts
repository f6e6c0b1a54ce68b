import { type SecurityRule, SpoutError, uuid } from '@spout/model'
import { AddressSyntaxError, formatCidr, parseCidr } from '@spout/net'
import { z } from 'zod'

const port = z
  .union([
    z.number().int(),
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number),
  ])
  .pipe(z.number().int().min(1).max(65535))

/** https://docs.openstack.org/api-ref/network/v2/#create-security-group-rule */
export const ruleDraft = z.strictObject({
  security_group_rule: z.strictObject({
    id: uuid.optional(),
    security_group_id: uuid,
    direction: z.string().max(16),
    ethertype: z.string().max(16).nullish(),
    protocol: z.union([z.string().max(16), z.number().int()]).nullish(),
    port_range_min: port.nullish(),
    port_range_max: port.nullish(),
    remote_ip_prefix: z.string().max(64).nullish(),
    remote_group_id: z.string().max(64).nullish(),
    remote_address_group_id: z.string().max(64).nullish(),
    description: z.string().max(255).nullish(),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
  }),
})
type RuleDraft = z.output<typeof ruleDraft>['security_group_rule']

/** Names, and numbers of the IP header (IANA, Assigned Internet Protocol Numbers), as Neutron takes them. */
const TRANSPORTS: Readonly<Record<string, SecurityRule['transport']>> = {
  any: null,
  '0': null,
  tcp: 'tcp',
  '6': 'tcp',
  udp: 'udp',
  '17': 'udp',
  sctp: 'sctp',
  '132': 'sctp',
}

/**
 * The traffic that a rule of Neutron admits.
 * @throws SpoutError for a rule without meaning, and for one that would have no effect here
 */
export function ruleOf(wanted: RuleDraft): Pick<SecurityRule, 'ipVersion' | 'transport' | 'ports' | 'cidr'> {
  const { direction, remote_group_id: group, remote_address_group_id: addresses } = wanted
  if (direction.toLowerCase() === 'egress')
    throw unsupported('direction', 'a rule for egress would be without effect: load balancers reach all their members')
  if (direction.toLowerCase() !== 'ingress') throw invalid('direction', 'must be ingress')
  for (const [field, value] of [
    ['remote_group_id', group],
    ['remote_address_group_id', addresses],
  ] as const)
    if (value != null)
      throw unsupported(
        field,
        'sources are prefixes here: the members of other groups are not known. Use remote_ip_prefix',
      )
  const ipVersion = ipVersionOf(wanted)
  const transport = transportNamed(wanted.protocol)
  return { ipVersion, transport, ports: portsOf(wanted, transport), cidr: cidrOf(wanted, ipVersion) }
}

function ipVersionOf({ ethertype }: RuleDraft): 4 | 6 {
  const word = (ethertype ?? 'IPv4').toLowerCase()
  if (word !== 'ipv4' && word !== 'ipv6') throw invalid('ethertype', 'must be IPv4 or IPv6')
  return word === 'ipv4' ? 4 : 6
}

function transportNamed(protocol: string | number | null | undefined): SecurityRule['transport'] {
  if (protocol == null) return null
  const word = String(protocol).toLowerCase()
  const known = Object.hasOwn(TRANSPORTS, word) ? TRANSPORTS[word] : undefined
  if (known === undefined)
    throw unsupported('protocol', 'must be tcp, udp, sctp or any: listeners of load balancers speak no other')
  return known
}

function portsOf(
  { port_range_min: first, port_range_max: last }: RuleDraft,
  transport: SecurityRule['transport'],
): SecurityRule['ports'] {
  if (first == null && last == null) return null
  if (first == null || last == null)
    throw invalid(first == null ? 'port_range_min' : 'port_range_max', 'is needed with the other end of the range')
  if (transport === null) throw invalid('protocol', 'is needed with a range of ports')
  if (first > last) throw invalid('port_range_max', `must not be less than port_range_min, which is ${first}`)
  return { first, last }
}

function cidrOf({ remote_ip_prefix: prefix }: RuleDraft, ipVersion: 4 | 6): string | null {
  if (prefix == null || prefix === '') return null
  try {
    const cidr = parseCidr(prefix.includes('/') ? prefix : `${prefix}/${prefix.includes(':') ? 128 : 32}`, 'clear')
    if (cidr.version !== ipVersion) throw invalid('remote_ip_prefix', `is not of IPv${ipVersion}, as ethertype says`)
    return formatCidr(cidr)
  } catch (error) {
    if (error instanceof AddressSyntaxError) throw invalid('remote_ip_prefix', error.message)
    throw error
  }
}

const at = (field: string): string => `security_group_rule.${field}`
const invalid = (field: string, reason: string): SpoutError =>
  new SpoutError('InvalidField', { field: at(field), reason })
const unsupported = (field: string, reason: string): SpoutError =>
  new SpoutError('Unsupported', { field: at(field), reason })
