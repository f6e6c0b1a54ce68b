import {
  type CertificateUse,
  CLIENT_CERTIFICATE_HEADERS,
  endsTls,
  type Listener,
  type LoadBalancer,
  type NodePool,
  type Pool,
} from '@spout/model'
import { type Problem, problem } from '../reason.ts'
import { certificatesNamed } from './certificates-named.ts'

/** The use of a certificate of the load balancer's project; null if there is none with this id. */
export type UseOfCertificate = (id: string) => CertificateUse | 'any' | null

/** TLS settings that the listener's protocol, or another setting, does not support. */
export function* tlsProblems({ protocol, tls, insertHeaders }: Listener, at: string): Generator<Problem> {
  const field = `${at}.tls`
  if (endsTls(protocol) && tls === null) yield problem('MissingField', { field })
  if (!endsTls(protocol) && tls !== null)
    yield problem('InvalidField', { field, reason: `belongs to listeners of protocol https and tls, not ${protocol}` })
  if (protocol === 'tls' && tls !== null && tls.hsts !== null)
    yield problem('InvalidField', { field: `${field}.hsts`, reason: 'belongs to listeners of protocol https, not tls' })
  if (protocol === 'tls' && tls?.separateHosts !== undefined)
    yield problem('InvalidField', {
      field: `${field}.separateHosts`,
      reason: 'belongs to listeners of protocol https, not tls',
    })
  if (tls?.clientCertificates?.acceptInvalid && tls.clientCertificates.required)
    yield problem('InvalidField', {
      field: `${field}.clientCertificates.acceptInvalid`,
      reason:
        'needs required to be false: otherwise a client without a certificate is refused, and one with an invalid certificate is not',
    })
  const header = insertHeaders.find(isOfClientCertificate)
  if (protocol !== 'https' && header !== undefined)
    yield problem('InvalidField', {
      field: `${at}.insertHeaders`,
      reason: `${header} belongs to listeners of protocol https, not ${protocol}`,
    })
}

const isOfClientCertificate = (header: string): boolean => CLIENT_CERTIFICATE_HEADERS.some((one) => one === header)

/** TLS settings that the pool's protocol, or another setting, does not support. */
export function* poolTlsProblems(
  { tls, protocol, http2 }: Pool,
  mode: NodePool['mode'],
  field: string,
): Generator<Problem> {
  if (http2 !== undefined && protocol !== 'http')
    yield problem('InvalidField', {
      field: `${field}.http2`,
      reason: `belongs to pools of protocol http, not ${protocol}`,
    })
  if (http2 !== undefined && tls !== undefined)
    yield problem('InvalidField', {
      field: `${field}.http2`,
      reason: 'is HTTP/2 without TLS; beside tls, tls.alpn says which protocols are offered',
    })
  if (tls !== undefined && mode === 'l4')
    yield problem('Unsupported', {
      field: `${field}.tls`,
      reason: 'the packet path forwards connections as they are: only pools behind the proxy speak TLS with members',
    })
  if (tls?.crlCertificateId !== undefined && tls.caCertificateId === null)
    yield problem('InvalidField', {
      field: `${field}.tls.crlCertificateId`,
      reason: 'belongs to pools with authorities: without caCertificateId no certificate is checked',
    })
}

const WHY_NOT: Readonly<Record<CertificateUse, string>> = {
  keyed: 'names a certificate without a private key: that of authorities, which checks others',
  authorities: 'names a certificate with a private key: authorities are stored as a chain alone',
  revocations: 'names certificates: lists of revoked ones are stored as a chain of X509 CRL blocks',
  users: 'names a certificate, not a list of users',
}

/** Certificates that a document names but that do not exist, or have another use. */
export function* certificateProblems(
  document: Pick<LoadBalancer, 'listeners' | 'pools'>,
  useOf: UseOfCertificate,
): Generator<Problem> {
  for (const { field, id, use } of certificatesNamed(document)) {
    const found = useOf(id)
    if (found === null) yield problem('ReferenceNotFound', { field, what: 'certificate', id })
    else if (found !== use && found !== 'any') yield problem('InvalidField', { field, reason: whyNot(use, found) })
  }
}

function whyNot(use: CertificateUse, found: CertificateUse): string {
  if (found === 'users') return 'names a list of users, not a certificate'
  if (use === 'users') return WHY_NOT.users
  return found === 'revocations' ? 'names lists of revoked certificates, not a certificate' : WHY_NOT[use]
}
