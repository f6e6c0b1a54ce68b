import { Refused } from '@spout/client/native-api'
import type { AddressCandidate } from './address-choice.ts'

/** Codes of refusals after which another candidate may still be granted. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'AddressTaken',
  'AddressPoolExhausted',
  'AddressPoolDraining',
  'AddressOutsideSubnet',
  'AddressForbidden',
  'ReferenceNotFound',
])

/** Tries the candidates in order until one is granted. @throws Refused the last refusal */
export async function firstGranted<T>(
  { candidates }: { readonly candidates: readonly AddressCandidate[] },
  take: (vip: AddressCandidate) => Promise<T>,
): Promise<T> {
  let last: Refused | null = null
  for (const candidate of candidates) {
    try {
      return await take(candidate)
    } catch (error) {
      const about = error instanceof Refused && (error.field === null || /^(vips|address|poolId)/.test(error.field))
      if (!about || !ELSEWHERE.has(error.code)) throw error
      last = error
    }
  }
  throw last ?? new Refused('AddressPoolExhausted', 'No address is left.', null)
}
