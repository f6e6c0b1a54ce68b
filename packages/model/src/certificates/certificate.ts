import { z } from 'zod'
import { metaShape, tags, timestamp, uuid } from '../scalars/scalars.ts'

/**
 * Limit of a chain and its key together, in bytes of PEM. HAProxy 2.6 takes a command of its runtime API, with the
 * payload in it, of at most one buffer (`tune.bufsize`, 16,384 bytes).
 */
export const MOST_CERTIFICATE_BYTES = 15_000

/**
 * What a proxy needs to prove its identity or to check that of a peer. It is one of:
 * - a certificate with its sealed private key, which a listener presents to clients, or the proxy to members;
 * - without a key: certificates of authorities, or their lists of revoked certificates (CRL, RFC 5280 section 5);
 * - without a chain: a list of users with hashes of their passwords, which is as secret as a key.
 *
 * `certificateUse` tells which.
 */
export const certificate = z.strictObject({
  ...metaShape,
  projectId: uuid,
  tags,
  /** PEM, leaf first; authorities and lists in the order given. We encode it anew from what was parsed. */
  chain: z.string().max(MOST_CERTIFICATE_BYTES),
  /**
   * The private key as PKCS#8 PEM, or the list of users, sealed for this object's id. Never shown. Null: there is none.
   */
  sealedKey: z
    .string()
    .max(2 * MOST_CERTIFICATE_BYTES)
    .nullable(),
  /** Names one version of chain and key, or of a list of users: the start of a SHA-256, hex. */
  contentId: z.string().regex(/^[0-9a-f]{32}$/),
  /**
   * The DNS names and addresses of the certificate: its subject alternative names, else its common name. Empty for
   * authorities.
   */
  names: z.array(z.string().max(253)).max(1000),
  subject: z.string().max(1024),
  issuer: z.string().max(1024),
  notBefore: timestamp,
  notAfter: timestamp,
  /** `rsa-2048`, `ecdsa-p256`, `ed25519` and the like; `none` for lists. */
  keyType: z.string().max(32),
  /** SHA-256 of the leaf, or of the first list, in hex. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Certificate = z.infer<typeof certificate>

/**
 * What a certificate object is used for. `keyed`: it is presented to peers. `authorities`: it verifies the certificates
 * of peers. `revocations`: it lists revoked certificates. `users`: it lists users and the hashes of their passwords.
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

/** A certificate is `expiring` for this long before it expires. */
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

/** The proxy refuses peers while the list is expired: it may lack newer revocations (RFC 5280 section 6.3.3). */
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
