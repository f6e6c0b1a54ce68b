import { type KeyObject, X509Certificate } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { keyStrength } from './key-strength.ts'
import { pemBlocks } from './pem-blocks.ts'

const MOST_IN_CHAIN = 10

/** SHA-1, MD5 and everything that OpenSSL's security level 2 would refuse is absent. */
const SIGNATURES: ReadonlySet<string> = new Set([
  ...['sha256WithRSAEncryption', 'sha384WithRSAEncryption', 'sha512WithRSAEncryption'],
  ...['ecdsa-with-SHA256', 'ecdsa-with-SHA384', 'ecdsa-with-SHA512', 'ED25519'],
])

/**
 * Reads a chain and puts it in order from the leaf, the certificate of this key. A root at its end stays.
 * @throws SpoutError InvalidField that says what is wrong, and with which block as it was given
 */
export function readChain(
  text: string,
  key: KeyObject,
  nowMs: number,
): readonly [X509Certificate, ...X509Certificate[]] {
  const given = certificatesIn(text)
  const leaf = given.find((one) => one.checkPrivateKey(key))
  if (leaf === undefined)
    throw new SpoutError('InvalidField', { field: 'key', reason: 'belongs to no certificate of the chain' })
  const chain = inOrder(leaf, given)
  for (const [depth, one] of chain.entries()) {
    // Clients do not check a root that they are sent: they have it, or do not trust it.
    const isRoot = depth > 0 && one.checkIssued(one)
    if (!isRoot) check(one, given.indexOf(one), nowMs)
  }
  return chain
}

/**
 * Reads the certificates of authorities. They stay in their order.
 * @throws SpoutError InvalidField that says what is wrong, and with which block
 */
export function readAuthorities(text: string, nowMs: number): readonly X509Certificate[] {
  const authorities = certificatesIn(text)
  for (const [index, one] of authorities.entries()) {
    const isSelfSigned = isIssuedBy(one, one)
    if (!one.ca && !isSelfSigned)
      throw refuse(`block ${index + 1} is not the certificate of an authority; one with its key is stored with \`key\``)
    check(one, index, nowMs, isSelfSigned)
  }
  return authorities
}

function certificatesIn(text: string): readonly X509Certificate[] {
  const given = pemBlocks(text, 'chain').map(({ label, der }, index) => {
    if (label !== 'CERTIFICATE') throw refuse(`block ${index + 1} is ${label}: only certificates are taken`)
    return parse(der, index)
  })
  if (given.length > MOST_IN_CHAIN) throw refuse(`has ${given.length} certificates: at most ${MOST_IN_CHAIN} are taken`)
  if (new Set(given.map(({ fingerprint256 }) => fingerprint256)).size < given.length)
    throw refuse('has a certificate twice')
  return given
}

function parse(der: Buffer, index: number): X509Certificate {
  let certificate: X509Certificate | null = null
  try {
    certificate = new X509Certificate(der)
  } catch {}
  // Bytes behind the certificate would be sent to clients as well.
  if (certificate === null || certificate.raw.length !== der.length)
    throw refuse(`block ${index + 1} is not a readable certificate`)
  return certificate
}

/** Each certificate was issued by the next one. */
function inOrder(
  leaf: X509Certificate,
  given: readonly X509Certificate[],
): readonly [X509Certificate, ...X509Certificate[]] {
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf]
  let last = leaf
  while (chain.length < given.length) {
    const issuer = given.find((one) => !chain.includes(one) && isIssuedBy(last, one))
    if (issuer === undefined) {
      const stray = given.findIndex((one) => !chain.includes(one))
      throw refuse(`block ${stray + 1} is not part of the chain: it issued none of the others`)
    }
    chain.push(issuer)
    last = issuer
  }
  return chain
}

function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return one.checkIssued(issuer) && one.verify(issuer.publicKey)
  } catch {
    return false
  }
}

/** @param isTrusted its own signature is of no importance, since it is the root of others */
function check(one: X509Certificate, index: number, nowMs: number, isTrusted = false): void {
  const fail = (why: string): SpoutError => refuse(`block ${index + 1}: ${why}`)
  if (one.validToDate.getTime() <= nowMs) throw fail(`expired at ${one.validToDate.toISOString()}`)
  const { signatureAlgorithm } = one
  if (!isTrusted && (signatureAlgorithm === undefined || !SIGNATURES.has(signatureAlgorithm)))
    throw fail(`its signature is ${signatureAlgorithm ?? 'unknown'}: SHA-256 or stronger is needed`)
  const strength = keyStrength(one.publicKey)
  if ('weakness' in strength) throw fail(strength.weakness)
}

const refuse = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'chain', reason })
