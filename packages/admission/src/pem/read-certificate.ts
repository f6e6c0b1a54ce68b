import { createHash, type X509Certificate } from 'node:crypto'
import { type Certificate, MOST_CERTIFICATE_BYTES, SpoutError } from '@spout/model'
import { contentIdOf } from '@spout/model/content-id'
import { readAuthorities, readChain } from './certificate-chain.ts'
import { certificateNames } from './certificate-names.ts'
import { keyStrength } from './key-strength.ts'
import { pemText } from './pem-blocks.ts'
import { readPrivateKey } from './private-key.ts'
import { isRevocationList, type RevocationList, readRevocationLists } from './revocation-list.ts'

/** The facts that a certificate's chain and key state. */
export type CertificateContent = Pick<
  Certificate,
  'chain' | 'contentId' | 'names' | 'subject' | 'issuer' | 'notBefore' | 'notAfter' | 'keyType' | 'fingerprint'
>

const LONGEST_NAME = 1024

/**
 * Reads and checks a chain and its key, both PEM; without a key, certificates of authorities, or their lists of what they
 * revoked. All text of the result was encoded anew, so nothing else that was in the PEM goes further.
 * @returns the content, and the key as PKCS#8 PEM
 * @throws SpoutError InvalidField, which names `chain` or `key` and never quotes the key
 */
export function readCertificate(
  { chain, key }: { readonly chain: string; readonly key?: string | undefined },
  nowMs: number,
): { readonly content: CertificateContent; readonly keyPem: string | null } {
  // Comments and carriage returns are not stored, so the text may be longer than the limit.
  for (const [field, text = ''] of Object.entries({ chain, key }))
    if (text.length > 4 * MOST_CERTIFICATE_BYTES) throw tooLarge(field)
  if (key === undefined && isRevocationList(chain))
    return { content: contentOfLists(readRevocationLists(chain, nowMs)), keyPem: null }
  if (key === undefined) {
    const authorities = readAuthorities(chain, nowMs)
    return { content: { ...contentOf(authorities, ''), names: [] }, keyPem: null }
  }
  const { key: privateKey, pem: keyPem } = readPrivateKey(key)
  const certificates = readChain(chain, privateKey, nowMs)
  return { content: { ...contentOf(certificates, keyPem), names: [...certificateNames(certificates[0])] }, keyPem }
}

/** Describes several certificates by the first one. They can be used until the first of them expires. */
function contentOf(certificates: readonly X509Certificate[], keyPem: string): Omit<CertificateContent, 'names'> {
  const [first] = certificates
  if (first === undefined) throw new RangeError('no certificate')
  const chainPem = certificates.map(({ raw }) => pemText('CERTIFICATE', raw)).join('')
  if (chainPem.length + keyPem.length > MOST_CERTIFICATE_BYTES) throw tooLarge('chain')
  const strength = keyStrength(first.publicKey)
  const ends =
    keyPem === '' ? certificates.map(({ validToDate }) => validToDate.getTime()) : [first.validToDate.getTime()]
  return {
    chain: chainPem,
    contentId: contentIdOf(chainPem + keyPem),
    subject: nameText(first.subject),
    issuer: nameText(first.issuer),
    notBefore: first.validFromDate.toISOString(),
    notAfter: new Date(Math.min(...ends)).toISOString(),
    keyType: 'keyType' in strength ? strength.keyType : 'unknown',
    fingerprint: fingerprintOf(first),
  }
}

/** Describes several lists by the first one. They can be used until the first of them expires. */
function contentOfLists(lists: readonly RevocationList[]): CertificateContent {
  const [first] = lists
  if (first === undefined) throw new RangeError('no list')
  const chain = lists.map(({ pem }) => pem).join('')
  return {
    chain,
    contentId: contentIdOf(chain),
    names: [],
    subject: '',
    issuer: nameText(first.issuer),
    notBefore: new Date(Math.max(...lists.map(({ thisUpdate }) => thisUpdate.getTime()))).toISOString(),
    notAfter: new Date(Math.min(...lists.map(({ nextUpdate }) => nextUpdate.getTime()))).toISOString(),
    keyType: 'none',
    fingerprint: createHash('sha256').update(first.der).digest('hex'),
  }
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
