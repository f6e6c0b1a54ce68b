import type { Listener, ListenerTls, NodeCertificate, NodePool, Pool, Service, ServiceTls } from '@spout/model'
import type { AccessLog } from '@spout/model/access-log'

/** The content that a certificate has now; null for one that is not there. */
export type ContentIdOf = (certificateId: string) => string | null

/**
 * How nodes end a listener's TLS.
 * @returns null for a listener that cannot be served: all its certificates are gone, or the authorities or revocation
 * lists of its clients
 */
export function planTls({ tls }: Pick<Listener, 'tls'>, contentIdOf: ContentIdOf): Pick<Service, 'tls'> | null {
  if (tls === null) return {}
  const certificates = tls.certificateIds.flatMap((id) => nodeCertificate(id, contentIdOf) ?? [])
  if (certificates.length === 0) return null
  const { unknownNames, minVersion, ciphers, alpn, hsts, separateHosts } = tls
  const clients = planClients(tls, contentIdOf)
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

function planClients(
  { clientCertificates }: ListenerTls,
  contentIdOf: ContentIdOf,
): Pick<ServiceTls, 'clients'> | null {
  if (clientCertificates === null) return {}
  const { caCertificateId, required, acceptInvalid, crlCertificateId = null } = clientCertificates
  const authorities = nodeCertificate(caCertificateId, contentIdOf)
  if (authorities === null) return null
  const clients = { authorities, required, ...(acceptInvalid && { acceptInvalid }) }
  if (crlCertificateId === null) return { clients }
  const revocations = nodeCertificate(crlCertificateId, contentIdOf)
  return revocations === null ? null : { clients: { ...clients, revocations } }
}

/**
 * How nodes speak TLS with a pool's members.
 * @returns null for a pool that names a certificate that is gone: without it members cannot be trusted
 */
export function planPoolTls(
  { tls }: Pick<Pool, 'tls'>,
  mode: NodePool['mode'],
  contentIdOf: ContentIdOf,
): Pick<NodePool, 'tls'> | null {
  if (tls === undefined) return {}
  const { caCertificateId, crlCertificateId = null, clientCertificateId, serverName, minVersion, ciphers } = tls
  const authorities = caCertificateId === null ? null : nodeCertificate(caCertificateId, contentIdOf)
  const revocations = crlCertificateId === null ? null : nodeCertificate(crlCertificateId, contentIdOf)
  const certificate = clientCertificateId === null ? null : nodeCertificate(clientCertificateId, contentIdOf)
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
 * Where nodes send the lines of an access log, and how.
 * @returns null for a receiver whose certificates are gone: its lines go nowhere rather than to somebody else
 */
export function planSyslog(
  syslog: NonNullable<AccessLog['syslog']>,
  contentIdOf: ContentIdOf,
): NonNullable<NonNullable<Service['accessLog']>['syslog']> | null {
  const { tls, ...target } = syslog
  if (tls === undefined) return target
  const authorities = nodeCertificate(tls.caCertificateId, contentIdOf)
  const certificate = tls.clientCertificateId === null ? null : nodeCertificate(tls.clientCertificateId, contentIdOf)
  if (authorities === null || (certificate === null) !== (tls.clientCertificateId === null)) return null
  return { ...target, tls: { authorities, serverName: tls.serverName, certificate } }
}

function nodeCertificate(id: string, contentIdOf: ContentIdOf): NodeCertificate | null {
  const contentId = contentIdOf(id)
  return contentId === null ? null : { id, contentId }
}
