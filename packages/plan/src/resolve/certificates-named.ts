import { type CertificateUse, type LoadBalancer, userListIds, userListOf } from '@spout/model'

/** A certificate that a document names. */
export interface CertificateReference {
  /** The path of the reference, such as `pools[0].tls.caCertificateId`. */
  readonly field: string
  readonly id: string
  readonly use: CertificateUse
  /** The part that names it, for messages: `listener web`. */
  readonly user: string
}

/** All certificates, and lists of users, that a load balancer names, with repetitions. */
export function* certificatesNamed({
  listeners,
  pools,
}: Pick<LoadBalancer, 'listeners' | 'pools'>): Generator<CertificateReference> {
  for (const [at, { tls, accessLog, routes, name, id: listenerId }] of listeners.entries()) {
    const user = `listener ${name || listenerId}`
    for (const id of userListIds(routes)) {
      // The first route that names it.
      const place = routes.findIndex((route) => userListOf(route) === id)
      const field = `listeners[${at}].routes[${place}].action.basicAuthentication.usersId`
      yield { field, id, use: 'users', user }
    }
    const receiver = accessLog?.syslog?.tls
    if (receiver !== undefined) {
      const field = `listeners[${at}].accessLog.syslog.tls`
      yield { field: `${field}.caCertificateId`, id: receiver.caCertificateId, use: 'authorities', user }
      if (receiver.clientCertificateId !== null)
        yield { field: `${field}.clientCertificateId`, id: receiver.clientCertificateId, use: 'keyed', user }
    }
    if (tls === null) continue
    for (const [place, id] of tls.certificateIds.entries())
      yield { field: `listeners[${at}].tls.certificateIds[${place}]`, id, use: 'keyed', user }
    if (tls.clientCertificates !== null) {
      const { caCertificateId, crlCertificateId = null } = tls.clientCertificates
      const field = `listeners[${at}].tls.clientCertificates`
      yield { field: `${field}.caCertificateId`, id: caCertificateId, use: 'authorities', user }
      if (crlCertificateId !== null)
        yield { field: `${field}.crlCertificateId`, id: crlCertificateId, use: 'revocations', user }
    }
  }
  for (const [at, { tls, name, id: poolId }] of pools.entries()) {
    if (tls === undefined) continue
    const { caCertificateId, crlCertificateId, clientCertificateId } = tls
    const [field, user] = [`pools[${at}].tls`, `pool ${name || poolId}`]
    if (caCertificateId !== null)
      yield { field: `${field}.caCertificateId`, id: caCertificateId, use: 'authorities', user }
    if (crlCertificateId !== undefined)
      yield { field: `${field}.crlCertificateId`, id: crlCertificateId, use: 'revocations', user }
    if (clientCertificateId !== null)
      yield { field: `${field}.clientCertificateId`, id: clientCertificateId, use: 'keyed', user }
  }
}
