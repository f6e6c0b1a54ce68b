import { z } from 'zod'
import { metaShape, tags, timestamp, uuid } from '../scalars/scalars.ts'

/**
 * Limit of a chain and its key together, as PEM in bytes. HAProxy 2.6 takes a payload at run time of at most one buffer
 * (`tune.bufsize`, 16,384 bytes), with the command in it.
 */
export const MOST_CERTIFICATE_BYTES = 15_000

/**
 * A certificate with its private key, which a listener shows to clients or the proxy to members: the chain in the open,
 * the key sealed. Or, without a key, what those of peers are checked with: the certificates of authorities, or their
 * lists of what they revoked (CRL, RFC 5280 section 5). Or a list of users with hashes of their passwords, without a chain,
 * which is as secret as a key.
 */
export const certificate = z.strictObject({
  ...metaShape,
  projectId: uuid,
  tags,
  /** PEM, from the leaf on; of authorities and lists as given. Encoded by us from what was parsed. */
  chain: z.string().max(MOST_CERTIFICATE_BYTES),
  /** The private key as PKCS#8 PEM, or the list of users, sealed for this object's id. Never shown. Null: there is none. */
  sealedKey: z
    .string()
    .max(2 * MOST_CERTIFICATE_BYTES)
    .nullable(),
  /** Names one version of chain and key, or of a list of users: the start of a SHA-256, hex. */
  contentId: z.string().regex(/^[0-9a-f]{32}$/),
  /** DNS names and addresses that it is for: its subject alternative names, else its common name. Authorities have none. */
  names: z.array(z.string().max(253)).max(1000),
  subject: z.string().max(1024),
  issuer: z.string().max(1024),
  notBefore: timestamp,
  notAfter: timestamp,
  /** `rsa-2048`, `ecdsa-p256`, `ed25519` and the like; of lists `none`. */
  keyType: z.string().max(32),
  /** SHA-256 of the leaf or of the first list, hex. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Certificate = z.infer<typeof certificate>

/**
 * The uses of a certificate: a `keyed` one is presented to peers, `authorities` verify those of peers, `revocations`
 * list those that are revoked, `users` lists users and the hashes of their passwords.
 */
export const CERTIFICATE_USES = ['keyed', 'authorities', 'revocations', 'users'] as const
export type CertificateUse = (typeof CERTIFICATE_USES)[number]

/** The label of a list of revoked certificates in PEM (RFC 7468 section 6). */
export const REVOCATION_LIST_LABEL = 'X509 CRL'

/** The use of a certificate, by its key and by the label of its PEM. */
export function certificateUse({ sealedKey, chain }: Pick<Certificate, 'sealedKey' | 'chain'>): CertificateUse {
  if (sealedKey !== null) return chain === '' ? 'users' : 'keyed'
  return chain.startsWith(`-----BEGIN ${REVOCATION_LIST_LABEL}-----`) ? 'revocations' : 'authorities'
}

/** How long before its end a certificate is `expiring`. */
export const EXPIRING_DAYS = 30
/** The same limit for a list of revoked certificates, since authorities issue new lists every few days. */
const LIST_EXPIRING_DAYS = 1
const DAY_MS = 86_400_000

export interface CertificateValidity {
  readonly state: 'valid' | 'not-yet-valid' | 'expiring' | 'expired'
  readonly message: string
}

/** Whether a certificate can be used at a time, in milliseconds since 1970. */
export function validityOf(
  { notBefore, notAfter, ...certificate }: Pick<Certificate, 'notBefore' | 'notAfter' | 'sealedKey' | 'chain'>,
  nowMs: number,
): CertificateValidity {
  const use = certificateUse(certificate)
  if (use === 'users') return { state: 'valid', message: 'It does not expire.' }
  if (use === 'revocations') return validityOfLists(notBefore, notAfter, nowMs)
  const leftMs = Date.parse(notAfter) - nowMs
  if (leftMs <= 0) return { state: 'expired', message: `It expired at ${notAfter}; clients refuse it.` }
  if (Date.parse(notBefore) > nowMs)
    return { state: 'not-yet-valid', message: `It is valid from ${notBefore}; until then clients refuse it.` }
  const days = Math.floor(leftMs / DAY_MS)
  if (leftMs <= EXPIRING_DAYS * DAY_MS)
    return { state: 'expiring', message: `It expires at ${notAfter}, in ${days} days: replace it.` }
  return { state: 'valid', message: `It is valid until ${notAfter}.` }
}

/** Clients are refused with an expired list: it may lack what was revoked since (RFC 5280 section 6.3.3). */
function validityOfLists(thisUpdate: string, nextUpdate: string, nowMs: number): CertificateValidity {
  const leftMs = Date.parse(nextUpdate) - nowMs
  if (leftMs <= 0)
    return {
      state: 'expired',
      message: `It expired at ${nextUpdate}: clients and members with certificates of its authority are refused until it is replaced.`,
    }
  if (Date.parse(thisUpdate) > nowMs)
    return {
      state: 'not-yet-valid',
      message: `It is valid from ${thisUpdate}: until then clients and members with certificates of its authority are refused.`,
    }
  if (leftMs <= LIST_EXPIRING_DAYS * DAY_MS)
    return { state: 'expiring', message: `It expires at ${nextUpdate}: replace it.` }
  return { state: 'valid', message: `It is valid until ${nextUpdate}.` }
}
