import { type Refusal, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { type Cidr, cidrContains, formatIp, isIp, parseCidr, parseIp } from '@spout/net'
import { familiesOf } from './address-request.ts'

const FIELD = 'spec.externalIPs'
/**
 * How many external addresses a Service may request. A load balancer has sixteen addresses at most, including the own
 * ones.
 */
const MOST = 8

export interface ExternalIpRequest {
  /** Canonical, sorted, without duplicates. */
  readonly wanted: readonly string[]
  readonly refused: readonly RefusedExternal[]
}

export interface RefusedExternal {
  /** The address as messages show it: in canonical form if it can be parsed. */
  readonly address: string
  readonly refusal: Refusal
}

const NOTHING: ExternalIpRequest = { wanted: [], refused: [] }

/**
 * Sorts a Service's `externalIPs` into those that may be requested and those that are refused.
 * @param ranges the ranges that they may be taken from; when empty, the field is ignored
 */
export function externalIpsOf(service: Service, ranges: readonly Cidr[]): ExternalIpRequest {
  const texts = service.spec.externalIPs ?? []
  if (ranges.length === 0 || texts.length === 0) return NOTHING
  const families = familiesOf(service)
  const wanted = new Set<string>()
  const refused = new Map<string, Refusal>()
  const refuse = (address: string, reason: string, message: string) =>
    refused.set(address, { reason, field: FIELD, message })
  for (const text of texts) {
    if (!isIp(text)) {
      refuse(shown(text), 'InvalidAddress', 'it is not an IP address')
      continue
    }
    const ip = parseIp(text)
    const address = formatIp(ip)
    if (!ranges.some((range) => cidrContains(range, ip)))
      refuse(address, 'ExternalIPNotAllowed', 'it is in none of the ranges that external IPs may come from')
    else if (!families.includes(ip.version))
      refuse(address, 'AddressFamilyMismatch', 'it is of a family that is not in spec.ipFamilies')
    else if (wanted.size >= MOST && !wanted.has(address))
      refuse(address, 'TooManyExternalIPs', `a Service has ${MOST} at most`)
    else wanted.add(address)
  }
  return {
    wanted: [...wanted].sort(),
    refused: [...refused].map(([address, refusal]) => ({ address, refusal })).slice(0, MOST),
  }
}

/**
 * Parses the ranges that external IPs may be taken from.
 * @throws AddressSyntaxError when one is not a prefix such as 192.0.2.0/24
 */
export const externalRanges = (texts: readonly string[]): readonly Cidr[] => texts.map((text) => parseCidr(text))

/**
 * Lists the external addresses of a document, as its annotation notes them. Nothing else distinguishes them from
 * addresses of a second family or floating IPs.
 */
export const EXTERNAL_ANNOTATION = 'kubernetes.external-ips'

interface Addressed {
  readonly annotations: Readonly<Record<string, string>>
  readonly vips: readonly { readonly address: string }[]
}

/** The first address is never external. */
export function externalAddresses({ annotations, vips }: Addressed): readonly string[] {
  const noted = new Set((annotations[EXTERNAL_ANNOTATION] ?? '').split(','))
  return vips.slice(1).flatMap(({ address }) => (noted.has(address) ? [address] : []))
}

/** The addresses of a document that are not external. */
export function ownAddresses(document: Addressed): readonly string[] {
  const external = externalAddresses(document)
  return document.vips.flatMap(({ address }) => (external.includes(address) ? [] : [address]))
}
