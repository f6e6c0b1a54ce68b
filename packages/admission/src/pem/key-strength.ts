import type { KeyObject } from 'node:crypto'

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'p256', secp384r1: 'p384', secp521r1: 'p521' }
const LEAST_RSA_BITS = 2048
/** A signature takes the node's processor 25 times as long as with 2048 bits. */
const MOST_RSA_BITS = 4096

/** @returns the kind of key, such as `rsa-2048`, or why it is not accepted */
export function keyStrength({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): { readonly keyType: string } | { readonly weakness: string } {
  if (asymmetricKeyType === 'ed25519') return { keyType: 'ed25519' }
  if (asymmetricKeyType === 'ec') {
    const curve = asymmetricKeyDetails?.namedCurve ?? 'unknown'
    const known = CURVES[curve]
    return known === undefined
      ? { weakness: `its curve is ${curve}: P-256, P-384 and P-521 are accepted` }
      : { keyType: `ecdsa-${known}` }
  }
  if (asymmetricKeyType !== 'rsa')
    return { weakness: `its key is of type ${asymmetricKeyType}: RSA, ECDSA and Ed25519 are accepted` }
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < LEAST_RSA_BITS || bits > MOST_RSA_BITS)
    return { weakness: `its RSA key has ${bits} bits: ${LEAST_RSA_BITS} to ${MOST_RSA_BITS} are accepted` }
  return { keyType: `rsa-${bits}` }
}
