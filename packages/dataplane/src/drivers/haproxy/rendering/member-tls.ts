import type { NodePoolTls } from '@spout/model'
import type { Cipher } from '@spout/model/ciphers'
import {
  checkedContentId,
  cipherWords,
  knownCiphers,
  knownProtocols,
  knownVersion,
  type Protocol,
  type TlsVersion,
} from '../sections/tls-values.ts'

/** How the servers of a backend are spoken to with TLS. Certificates are named by content id. */
export interface MemberTls {
  /** The file of authorities that servers' certificates must be from. Null: any certificate is accepted. */
  readonly authorities: string | null
  /** The file of the lists of what these authorities revoked. Absent: nothing is looked up. */
  readonly revocations?: string
  /** The name that servers are asked for and must have, in base64url. Null: the one that the client asked for. */
  readonly serverName: string | null
  /** The certificate that is shown to servers which ask for one; null: none. */
  readonly certificate: string | null
  readonly minVersion: TlsVersion
  /** Ciphers in order of preference. Absent: the defaults. */
  readonly ciphers?: readonly Cipher[]
  readonly alpn: readonly Protocol[]
}

/** @throws RangeError for a content id that is none */
export const memberTls = ({
  authorities,
  revocations,
  serverName,
  certificate,
  minVersion,
  ciphers,
  alpn,
}: NodePoolTls): MemberTls => ({
  authorities: authorities === null ? null : checkedContentId(authorities.contentId),
  ...(revocations === undefined ? {} : { revocations: checkedContentId(revocations.contentId) }),
  serverName: serverName === null ? null : Buffer.from(serverName, 'latin1').toString('base64url'),
  certificate: certificate === null ? null : checkedContentId(certificate.contentId),
  minVersion: knownVersion(minVersion),
  ...(ciphers === undefined ? {} : { ciphers: knownCiphers(ciphers) }),
  alpn: knownProtocols(alpn),
})

/**
 * The words of a server's line. HAProxy compares the server's certificate with `serverName`, or with the name that the
 * client asked for. If the client asked for none, HAProxy accepts any certificate of the authorities.
 */
export const memberTlsWords = (
  { authorities, revocations, serverName, certificate, minVersion, ciphers, alpn }: MemberTls,
  pathOf: (contentId: string) => string,
): readonly string[] => [
  'ssl',
  ...(authorities === null ? ['verify none'] : ['verify required', `ca-file ${pathOf(authorities)}`]),
  // `no-ssl-reuse`: the list is not consulted for a resumed session.
  ...(revocations === undefined ? [] : [`crl-file ${pathOf(revocations)}`, 'no-ssl-reuse']),
  serverName === null ? 'sni var(sess.sni)' : `sni str(${serverName}),ub64dec`,
  ...(certificate === null ? [] : [`crt ${pathOf(certificate)}`]),
  `ssl-min-ver TLSv${minVersion}`,
  ...cipherWords(ciphers),
  ...(alpn.length > 0 ? [`alpn ${alpn.join()}`] : []),
]

/** A key for the settings that run time cannot change for a server. */
export const memberTlsKey = ({
  authorities,
  revocations,
  serverName,
  certificate,
  minVersion,
  ciphers = [],
  alpn,
}: MemberTls): string =>
  [
    ...['tls', authorities, serverName, certificate, minVersion, alpn.join(), ...ciphers],
    ...(revocations === undefined ? [] : [`crl ${revocations}`]),
  ].join('/')

/** The files that servers with these settings need. */
export const filesOf = ({ authorities, revocations, certificate }: MemberTls): readonly string[] =>
  [authorities ?? [], revocations ?? [], certificate ?? []].flat()
