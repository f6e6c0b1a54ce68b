import type { Listener, Service } from '@spout/model'

/** The content that a certificate has now; null for one that is not there. */
export type ContentIdOf = (certificateId: string) => string | null

/**
 * How nodes end a listener's TLS.
 * @returns null for a listener whose certificates are all gone: it cannot be served
 */
export function planTls({ tls }: Pick<Listener, 'tls'>, contentIdOf: ContentIdOf): Pick<Service, 'tls'> | null {
  if (tls === null) return {}
  const certificates = tls.certificateIds.flatMap((id) => {
    const contentId = contentIdOf(id)
    return contentId === null ? [] : [{ id, contentId }]
  })
  if (certificates.length === 0) return null
  const { unknownNames, minVersion, alpn, hsts } = tls
  return { tls: { certificates, unknownNames, minVersion, alpn, ...(hsts === null ? {} : { hsts }) } }
}
