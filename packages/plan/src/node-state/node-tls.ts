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

/** What a certificate is now; null for one that is not there. */
export type CertificateOf = (id: string) => Pick<Certificate, 'contentId' | 'names' | 'keyType'> | null

/**
 * How nodes end a listener's TLS.
 * @returns null for a listener that cannot be served: all its certificates are gone, or the authorities or revocation
 * lists of its clients
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
 * The certificates of a listener without those of which an earlier one has every name, and a key of the same kind.
 * Proxies tell certificates apart by these two, and forget the order when one is renewed: of two with the same names
 * clients would get the other one from then on.
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
 * How nodes speak TLS with a pool's members.
 * @returns null for a pool that names a certificate that is gone: without it members cannot be trusted
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
 * Where nodes send the lines of an access log, and how.
 * @returns null for a receiver whose certificates are gone: its lines go nowhere rather than to somebody else
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

/** A certificate or list of users as nodes are told of it; null for one that is gone. */
export function nodeCertificate(id: string, certificateOf: CertificateOf): NodeCertificate | null {
  const certificate = certificateOf(id)
  return certificate === null ? null : { id, contentId: certificate.contentId }
}
