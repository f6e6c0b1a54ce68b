import type { Attributes } from '@spout/octavia-client'
import type { Found } from './inventory.ts'
import { isEmpty, KIND_ROWS, textOf } from './kinds.ts'
import { rulesOf } from './read-surroundings.ts'
import { type Note, NotTaken, placeOf, projectOf, type Translated, type TranslateOptions } from './translate.ts'
import { copied } from './translate-offers.ts'

/** Protocols of listeners by their names and numbers (IANA, Assigned Internet Protocol Numbers). */
const TRANSPORTS: Readonly<Record<string, string | null>> = {
  ...{ any: null, '0': null },
  ...{ tcp: 'tcp', '6': 'tcp', udp: 'udp', '17': 'udp', sctp: 'sctp', '132': 'sctp' },
}

/** Null for any protocol; undefined for one that no listener uses. */
function transportOf({ protocol }: Attributes): string | null | undefined {
  if (isEmpty(protocol)) return null
  const word = String(protocol).toLowerCase()
  return Object.hasOwn(TRANSPORTS, word) ? TRANSPORTS[word] : undefined
}

const isEgress = ({ direction }: Attributes): boolean => String(direction).toLowerCase() === 'egress'

/**
 * Whether a rule decides who may connect to listeners. Other rules are left out: they have no effect on a load
 * balancer.
 */
export const isForListeners = (rule: Attributes): boolean => !isEgress(rule) && transportOf(rule) !== undefined

/** Rules that allow the same traffic have the same text. Neutron counts them as one rule, too. */
export const meaningOf = (rule: Attributes): string =>
  JSON.stringify([
    ...[String(rule['ethertype'] ?? 'IPv4').toLowerCase(), transportOf(rule)],
    ...[rule['port_range_min'] ?? null, rule['port_range_max'] ?? null, sourcesOf(rule)],
  ])

function sourcesOf({ remote_ip_prefix: prefix }: Attributes): string | null {
  const text = textOf(prefix)
  return text === null || text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`
}

/** A security group without its rules. @throws NotTaken */
export function groupOf(found: Found, options: TranslateOptions): Translated {
  const { attributes } = found
  const rules = rulesOf(attributes)
  const count = (kept: (rule: Attributes) => boolean): number => rules.filter(kept).length
  const [egress, others] = [count(isEgress), count((rule) => !isEgress(rule) && !isForListeners(rule))]
  const left = (number: number, what: string, why: string): readonly Note[] =>
    number === 0 ? [] : [{ field: 'security_group_rules', text: `${number} ${what} left out: ${why}` }]
  return {
    body: { project_id: projectOf(found, options), ...copied(found) },
    notes: [
      ...left(egress, 'for egress', 'load balancers reach all their members'),
      ...left(others, 'of other protocols than TCP, UDP and SCTP', 'listeners speak no other, and pings are answered'),
      ...(attributes['stateful'] === false
        ? [{ field: 'stateful', text: 'left out: replies of a load balancer always pass' }]
        : []),
    ],
  }
}

/** @throws NotTaken for sources that Spout does not know. Without the rule, fewer clients may connect */
export function ruleOf(found: Found): Translated {
  for (const field of ['remote_group_id', 'remote_address_group_id'])
    if (!isEmpty(found.attributes[field]))
      throw new NotTaken(
        field,
        'sources are prefixes in Spout, and who is in another group is not known: write rules with remote_ip_prefix',
      )
  return { body: { security_group_id: found.parentId, direction: 'ingress', ...copied(found) }, notes: [] }
}

/**
 * A floating IP of a load balancer's port, without that port.
 * @param projectId of the load balancer, in Spout
 * @throws NotTaken
 */
export function floatingOf(found: Found, projectId: string, options: TranslateOptions): Translated {
  const { attributes } = found
  const own = projectOf(found, options)
  if (own !== projectId)
    throw new NotTaken('project_id', `is ${own}, and that of the load balancer is ${projectId}: they must be the same`)
  const address = textOf(attributes['floating_ip_address']) ?? ''
  const network = textOf(attributes['floating_network_id'])
  const pool = placeOf('floating_ip_address', address, network, own, ['pool'], options)
  return {
    body: { project_id: own, floating_network_id: pool.id, ...copied(found) },
    notes: Object.entries(KIND_ROWS.floatingip.leftOut).flatMap(([field, why]) =>
      isEmpty(attributes[field]) ? [] : [{ field, text: `left out: ${why}` }],
    ),
  }
}
