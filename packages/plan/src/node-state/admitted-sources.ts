import { type Listener, type SecurityRule, transportOf } from '@spout/model'
import { type Cidr, cidrContains, firstIp, formatCidr, parseCidr } from '@spout/net'

/**
 * The sources that may connect to a listener: those that its own list admits and, if its load balancer names security
 * groups, a rule of them admits as well.
 * @param rules of all groups that the load balancer names; null: it names none
 * @returns prefixes, which may contain one another; null: all sources
 */
export function admittedSources(
  { allowedCidrs, protocol, port }: Pick<Listener, 'allowedCidrs' | 'protocol' | 'port'>,
  rules: readonly SecurityRule[] | null,
): readonly string[] | null {
  if (rules === null) return allowedCidrs
  const transport = transportOf(protocol)
  const letIn = rules
    .filter((rule) => (rule.transport ?? transport) === transport && holdsPort(rule, port))
    .map(sourceOf)
  const both =
    allowedCidrs === null
      ? letIn
      : intersection(
          allowedCidrs.map((text) => parseCidr(text)),
          letIn,
        )
  return [...new Set(both.map(formatCidr))].sort()
}

const holdsPort = ({ ports }: SecurityRule, port: number): boolean =>
  ports === null || (ports.first <= port && port <= ports.last)

const sourceOf = ({ cidr, ipVersion }: SecurityRule): Cidr =>
  parseCidr(cidr ?? (ipVersion === 4 ? '0.0.0.0/0' : '::/0'))

/** The pairwise intersections. That of two prefixes is the longer one, or nothing. */
const intersection = (some: readonly Cidr[], others: readonly Cidr[]): readonly Cidr[] =>
  some.flatMap((one) =>
    others.flatMap((other) => {
      const [outer, inner] = one.prefix <= other.prefix ? [one, other] : [other, one]
      return cidrContains(outer, firstIp(inner)) ? [inner] : []
    }),
  )
