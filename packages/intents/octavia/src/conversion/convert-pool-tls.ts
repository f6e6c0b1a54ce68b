import type { Pool } from '@spout/model'
import type { OctaviaPool, OctaviaPoolTls } from '../terms/octavia-resources.ts'
import { unsupportedOption, validationFailure } from '../wire/fault.ts'
import {
  alpnOf,
  certificateId,
  ciphersOf,
  cipherText,
  DEFAULTS,
  minVersionOf,
  type ReferenceOf,
  VERSIONS_FROM,
} from './convert-tls.ts'

/** What pools without TLS print. */
export const NO_POOL_TLS: OctaviaPoolTls = {
  enabled: false,
  certificateRef: null,
  caRef: null,
  crlRef: null,
  versions: null,
  ciphers: null,
  alpn: null,
}

export function unfoldPoolTls(tls: Pool['tls'], referenceOf: ReferenceOf): OctaviaPoolTls {
  if (tls === undefined) return NO_POOL_TLS
  return {
    enabled: true,
    certificateRef: tls.clientCertificateId && referenceOf(tls.clientCertificateId),
    caRef: tls.caCertificateId && referenceOf(tls.caCertificateId),
    crlRef: tls.crlCertificateId === undefined ? null : referenceOf(tls.crlCertificateId),
    versions: VERSIONS_FROM[tls.minVersion],
    ciphers: cipherText(tls.ciphers ?? null),
    alpn: tls.alpn,
  }
}

/**
 * As in Octavia, the server name (SNI) sent to members is the one that the client sent to the listener.
 * @throws OctaviaFault for what Octavia refuses or what is not supported here
 */
export function foldPoolTls({ protocol, tls, model }: OctaviaPool): Pool['tls'] {
  const { enabled, certificateRef, caRef, crlRef, versions, ciphers: text, alpn } = tls
  if (!enabled) {
    if (certificateRef !== null || caRef !== null || crlRef !== null)
      throw unsupportedOption('tls_enabled False: certificates of a pool without TLS are not kept here')
    return undefined
  }
  if (protocol === 'UDP' || protocol === 'SCTP') throw validationFailure(`${protocol} pools do not support TLS.`)
  if (crlRef !== null && caRef === null)
    throw validationFailure(
      model.tls?.crlCertificateId === undefined
        ? 'A CA reference is required to specify a certificate revocation list.'
        : 'A CA reference cannot be removed when a certificate revocation list is present.',
    )
  const ciphers = ciphersOf(text)
  return {
    caCertificateId: caRef === null ? null : certificateId(caRef),
    ...(crlRef === null ? {} : { crlCertificateId: certificateId(crlRef) }),
    serverName: model.tls?.serverName ?? null,
    clientCertificateId: certificateRef === null ? null : certificateId(certificateRef),
    minVersion: versions === null ? DEFAULTS.minVersion : minVersionOf(versions),
    ...(ciphers === null ? {} : { ciphers }),
    alpn: alpn === null ? [...DEFAULTS.alpn] : alpnOf(alpn),
  }
}
