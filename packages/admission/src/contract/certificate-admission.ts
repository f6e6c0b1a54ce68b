import { type Certificate, certificate } from '@spout/model'
import { z } from 'zod'

/** PEM, as it is given. Its errors name the field and never quote it. */
const pem = z.string().min(1).max(100_000)
const usersText = z.string().max(100_000)

export const certificateDraft = certificate
  .pick({ projectId: true, name: true, description: true, tags: true })
  .extend({
    name: certificate.shape.name.min(1),
    description: certificate.shape.description.default(''),
    tags: certificate.shape.tags.default([]),
    /** The certificate and those that issued it, in any order; or those of authorities. Absent: `users` is there. */
    chain: pem.optional(),
    /** The private key of one of them. Absent: the chain holds authorities or revocation lists. */
    key: pem.optional(),
    /**
     * Instead of both: users and the hashes of their passwords, a line `NAME:HASH` for each, as `htpasswd` writes them.
     * It is as secret as a key.
     */
    users: usersText.optional(),
  })
export type CertificateDraft = z.input<typeof certificateDraft>

/** Fields that are absent keep their values. Chain and key are replaced together; authorities have a chain alone. */
export const certificateChange = certificateDraft.omit({ projectId: true }).partial()
export type CertificateChange = z.input<typeof certificateChange>

/** One version of a certificate with its private key in clear. */
export interface OpenCertificate {
  readonly contentId: string
  /** Chain, and key if it has one. */
  readonly pem: string
}

/**
 * Writes of certificates. The private key is sealed before it is stored, and only `openCertificate` gives it in clear.
 */
export interface CertificateAdmission {
  createCertificate(draft: CertificateDraft): Promise<Certificate>
  /**
   * Makes the certificate of a secret or a container of the key manager, under the same id; it is deleted with that.
   * @returns the one that was made of it before, if there is one
   * @throws SpoutError NotFound without that secret or container in the project
   */
  createCertificateOf(originId: string, draft: CertificateDraft): Promise<Certificate>
  changeCertificate(id: string, change: CertificateChange): Promise<Certificate>
  /** Refused while a listener or a pool uses it. */
  deleteCertificate(id: string): Promise<void>
  /**
   * For nodes that carry a load balancer that uses it, and for nobody else.
   * @throws SpoutError NotFound; Unavailable when no configured key opens it
   */
  openCertificate(id: string): OpenCertificate
}
