import type { AddressRequest } from '@spout/connector'
import { formatIp, isIp, parseIp } from '@spout/net'
import type { Gateway } from '../../objects/gateway.ts'
import { type Objection, objection } from '../fields/objection.ts'

const refuse = (reason: string, message: string) => ({ refused: objection(reason, message) })

/** The addresses that a Gateway requests: any IPv4 address when it names none. */
export function addressesOf({ spec }: Gateway): { readonly value: AddressRequest } | { readonly refused: Objection } {
  const families: AddressRequest['families'][number][] = []
  for (const { type = 'IPAddress', value = '' } of spec.addresses ?? []) {
    if (type !== 'IPAddress') return refuse('UnsupportedAddress', `addresses: type ${type} is not supported.`)
    if (value === '') continue
    if (!isIp(value)) return refuse('UnsupportedAddress', 'addresses: a value is not an IP address.')
    const ip = parseIp(value)
    if (families.some(({ family }) => family === ip.version))
      return refuse('UnsupportedAddress', `addresses: has two IPv${ip.version} addresses; one per family is allowed.`)
    families.push({ family: ip.version, required: true, address: formatIp(ip) })
  }
  if (families.length === 0) families.push({ family: 4, required: true, address: null })
  return { value: { families, pools: null } }
}
