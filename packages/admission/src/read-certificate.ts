import type { X509Certificate } from 'node:crypto'
import { type Certificate, MOST_CERTIFICATE_BYTES, SpoutError } from '@spout/model'
import { contentIdOf } from '@spout/model/content-id'
import { readChain } from './certificate-chain.ts'
import { certificateNames } from './certificate-names.ts'
import { keyStrength } from './key-strength.ts'
import { pemText } from './pem-blocks.ts'
import { readPrivateKey } from './private-key.ts'

/** What a certificate's chain and key say of themselves. */
export type CertificateContent = Pick<
  Certificate,
  'chain' | 'contentId' | 'names' | 'subject' | 'issuer' | 'notBefore' | 'notAfter' | 'keyType' | 'fingerprint'
>

const LONGEST_NAME = 1024

/**
 * Reads and checks a chain and its key, both PEM. All text of the result was encoded anew, so nothing else that was in
 * the PEM goes further.
 * @returns the content, and the key as PKCS#8 PEM
 * @throws SpoutError InvalidField, which names `chain` or `key` and never quotes the key
 */
export function readCertificate(
  { chain, key }: { readonly chain: string; readonly key: string },
  nowMs: number,
): { readonly content: CertificateContent; readonly keyPem: string } {
  // PEM of others has comments and carriage returns, which do not count later.
  for (const [field, text] of Object.entries({ chain, key }))
    if (text.length > 4 * MOST_CERTIFICATE_BYTES) throw tooLarge(field)
  const { key: privateKey, pem: keyPem } = readPrivateKey(key)
  const certificates = readChain(chain, privateKey, nowMs)
  const [leaf] = certificates
  const chainPem = certificates.map(({ raw }) => pemText('CERTIFICATE', raw)).join('')
  if (chainPem.length + keyPem.length > MOST_CERTIFICATE_BYTES) throw tooLarge('chain')
  const strength = keyStrength(leaf.publicKey)
  const content: CertificateContent = {
    chain: chainPem,
    contentId: contentIdOf(chainPem + keyPem),
    names: [...certificateNames(leaf)],
    subject: nameText(leaf.subject),
    issuer: nameText(leaf.issuer),
    notBefore: leaf.validFromDate.toISOString(),
    notAfter: leaf.validToDate.toISOString(),
    keyType: 'keyType' in strength ? strength.keyType : 'unknown',
    fingerprint: fingerprintOf(leaf),
  }
  return { content, keyPem }
}

const fingerprintOf = ({ fingerprint256 }: X509Certificate): string => fingerprint256.replaceAll(':', '').toLowerCase()

/** Node.js prints a line for each part of a name. */
function nameText(name: string | undefined): string {
  const text = (name ?? '').replaceAll('\n', ', ')
  if (text.length > LONGEST_NAME)
    throw new SpoutError('InvalidField', {
      field: 'chain',
      reason: `has a name of more than ${LONGEST_NAME} characters`,
    })
  return text
}

const tooLarge = (field: string): SpoutError =>
  new SpoutError('InvalidField', {
    field,
    reason: `is too large: chain and key together may have ${MOST_CERTIFICATE_BYTES} bytes as PEM`,
  })
