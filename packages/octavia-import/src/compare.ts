import { isDeepStrictEqual } from 'node:util'
import { AddressSyntaxError, canonicalIp } from '@spout/net'
import type { Attributes } from '@spout/octavia-client'
import type { Found } from './inventory.ts'
import { isEmpty, KIND_ROWS } from './kinds.ts'
import type { Note } from './translate.ts'

/** Attributes that are compared besides the copied ones, where the request to create the object has them. */
const GIVEN = [
  'project_id',
  'vip_address',
  'vip_subnet_id',
  'provider',
  'flavor_id',
  'availability_zone',
  'vip_sg_ids',
  'subnet_id',
]

/**
 * Where an object of Spout differs from the one that would be created. An attribute that the other cloud does not know
 * is not compared.
 */
export function differences(found: Found, body: Attributes, ours: Attributes): readonly Note[] {
  const fields = [
    ...KIND_ROWS[found.kind].copied.filter((field) => field in found.attributes),
    ...GIVEN.filter((field) => field in body),
    ...(isEmpty(body['additional_vips']) ? [] : ['additional_vips']),
  ]
  return differing(fields, body, ours)
}

/** The attributes whose values in the two objects do not mean the same. */
export function differing(fields: readonly string[], body: Attributes, ours: Attributes): readonly Note[] {
  return fields.flatMap((field) => {
    const [wanted, is] = [canonical(field, body[field]), canonical(field, ours[field])]
    if (isDeepStrictEqual(wanted, is)) return []
    return [{ field, text: `is ${JSON.stringify(is)} in Spout, not ${JSON.stringify(wanted)}` }]
  })
}

/** One value for all that mean the same. */
function canonical(field: string, value: unknown): unknown {
  if (isEmpty(value)) return null
  if (field === 'tags' || field === 'tls_versions' || field === 'vip_sg_ids')
    return (value as readonly string[]).toSorted()
  if (field === 'expected_codes') return String(value).replaceAll(' ', '')
  if (field === 'vip_address' || field === 'floating_ip_address') return sameAddress(String(value))
  if (field === 'flavor_data' || field === 'availability_zone_data') return jsonOf(String(value))
  if (field === 'additional_vips')
    return (value as readonly Attributes[]).map(({ ip_address: address }) => sameAddress(String(address)))
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function sameAddress(text: string): string {
  try {
    return canonicalIp(text)
  } catch (error) {
    if (error instanceof AddressSyntaxError) return text
    throw error
  }
}
