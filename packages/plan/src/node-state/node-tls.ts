import type {
  Certificate,
  Listener,
  ListenerTls,
  NodeCertificate,
  NodePool,
  Pool,
  Service,
  ServiceTls,
} from '@spout/model'
import type { AccessLog } from '@spout/model/access-log'

/** Looks up the present version of a certificate; null if there is none with this id. */
export type CertificateOf = (id: string) => Pick<Certificate, 'contentId' | 'names' | 'keyType'> | null

/**
 * Plans how nodes terminate a listener's TLS.
 * @returns null if the listener cannot be served, because all its certificates were deleted, or the authorities or
 * revocation lists for its clients
 */
export function planTls({ tls }: Pick<Listener, 'tls'>, certificateOf: CertificateOf): Pick<Service, 'tls'> | null {
  if (tls === null) return {}
  const certificates = shownCertificates(tls.certificateIds, certificateOf)
  if (certificates.length === 0) return null
  const { unknownNames, minVersion, ciphers, alpn, hsts, separateHosts } = tls
  const clients = planClients(tls, certificateOf)
  if (clients === null) return null
  return {
    tls: {
      ...{ certificates, unknownNames, minVersion, alpn },
      ...(ciphers === null ? {} : { ciphers }),
      ...(hsts === null ? {} : { hsts }),
      ...clients,
      ...(separateHosts === undefined ? {} : { separateHosts }),
    },
  }
}

/**
 * The certificates of a listener, without those whose names and kind of key earlier ones have already. A proxy
 * distinguishes certificates by name and kind of key, and loses their order when one is renewed. So of two with the
 * same names clients would get the second one after a renewal of the first.
 */
function shownCertificates(ids: readonly string[], certificateOf: CertificateOf): readonly NodeCertificate[] {
  const taken = new Set<string>()
  return ids.flatMap((id) => {
    const certificate = certificateOf(id)
    if (certificate === null) return []
    const [kindOfKey] = certificate.keyType.split('-')
    const names = certificate.names.map((name) => `${kindOfKey} ${name.toLowerCase()}`)
    if (names.length > 0 && names.every((name) => taken.has(name))) return []
    for (const name of names) taken.add(name)
    return [{ id, contentId: certificate.contentId }]
  })
}

function planClients(
  { clientCertificates }: ListenerTls,
  certificateOf: CertificateOf,
): Pick<ServiceTls, 'clients'> | null {
  if (clientCertificates === null) return {}
  const { caCertificateId, required, acceptInvalid, crlCertificateId = null } = clientCertificates
  const authorities = nodeCertificate(caCertificateId, certificateOf)
  if (authorities === null) return null
  const clients = { authorities, required, ...(acceptInvalid && { acceptInvalid }) }
  if (crlCertificateId === null) return { clients }
  const revocations = nodeCertificate(crlCertificateId, certificateOf)
  return revocations === null ? null : { clients: { ...clients, revocations } }
}

/**
 * Plans how proxies connect to a pool's members with TLS.
 * @returns null if the pool names a certificate that was deleted: without it members cannot be verified
 */
export function planPoolTls(
  { tls }: Pick<Pool, 'tls'>,
  mode: NodePool['mode'],
  certificateOf: CertificateOf,
): Pick<NodePool, 'tls'> | null {
  if (tls === undefined) return {}
  const { caCertificateId, crlCertificateId = null, clientCertificateId, serverName, minVersion, ciphers } = tls
  const authorities = caCertificateId === null ? null : nodeCertificate(caCertificateId, certificateOf)
  const revocations = crlCertificateId === null ? null : nodeCertificate(crlCertificateId, certificateOf)
  const certificate = clientCertificateId === null ? null : nodeCertificate(clientCertificateId, certificateOf)
  if ((authorities === null) !== (caCertificateId === null)) return null
  if ((revocations === null) !== (crlCertificateId === null)) return null
  if ((certificate === null) !== (clientCertificateId === null)) return null
  return {
    tls: {
      ...{ authorities, serverName, certificate, minVersion },
      ...(revocations === null ? {} : { revocations }),
      ...(ciphers === undefined ? {} : { ciphers }),
      alpn: mode === 'http' ? tls.alpn : [],
    },
  }
}

/**
 * Plans where and how nodes send the lines of an access log.
 * @returns null if a certificate that the receiver needs was deleted. Then no lines are sent: the receiver could be
 * anybody
 */
export function planSyslog(
  syslog: NonNullable<AccessLog['syslog']>,
  certificateOf: CertificateOf,
): NonNullable<NonNullable<Service['accessLog']>['syslog']> | null {
  const { tls, ...target } = syslog
  if (tls === undefined) return target
  const authorities = nodeCertificate(tls.caCertificateId, certificateOf)
  const certificate = tls.clientCertificateId === null ? null : nodeCertificate(tls.clientCertificateId, certificateOf)
  if (authorities === null || (certificate === null) !== (tls.clientCertificateId === null)) return null
  return { ...target, tls: { authorities, serverName: tls.serverName, certificate } }
}

/** The reference to a certificate or list of users that nodes get; null if it was deleted. */
export function nodeCertificate(id: string, certificateOf: CertificateOf): NodeCertificate | null {
  const certificate = certificateOf(id)
  return certificate === null ? null : { id, contentId: certificate.contentId }
}
