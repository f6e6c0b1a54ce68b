import {
  type Cipher,
  DEFAULT_CIPHERS,
  isCipher,
  type Listener,
  type ListenerTls,
  listenerTls,
  whyNoCipher,
} from '@spout/model'
import type { OctaviaListener, OctaviaTls } from '../terms/octavia-resources.ts'
import { OctaviaFault, unsupportedOption, validationFailure } from '../wire/fault.ts'
import { pythonText } from '../wire/python-text.ts'
import { dashedUuid } from '../wire/wire-type.ts'

/** What listeners that do not terminate TLS print. */
export const NO_TLS: OctaviaTls = {
  defaultRef: null,
  sniRefs: [],
  versions: null,
  ciphers: null,
  alpn: null,
  clientAuthentication: 'NONE',
  clientCaRef: null,
  clientCrlRef: null,
  hstsMaxAge: null,
  hstsSubdomains: false,
  hstsPreload: false,
}

const OLD_VERSIONS = ['SSLv3', 'TLSv1', 'TLSv1.1'] as const
const VERSIONS = [...OLD_VERSIONS, 'TLSv1.2', 'TLSv1.3'] as const
export const VERSIONS_FROM: Readonly<Record<ListenerTls['minVersion'], readonly string[]>> = {
  '1.2': ['TLSv1.2', 'TLSv1.3'],
  '1.3': ['TLSv1.3'],
}
const ALPN_PROTOCOLS = ['h2', 'http/1.1', 'http/1.0'] as const
export const DEFAULTS = { minVersion: '1.2', alpn: ['h2', 'http/1.1'] } as const satisfies Partial<ListenerTls>

/** The reference by which a client named a certificate; the id if it used that. */
export type ReferenceOf = (certificateId: string) => string

/** Without a default certificate, clients of other names are refused. */
export function unfoldTls(tls: Listener['tls'], referenceOf: ReferenceOf): OctaviaTls {
  if (tls === null) return NO_TLS
  const { certificateIds, unknownNames, minVersion, ciphers, alpn, hsts, clientCertificates: clients } = tls
  const [first = null, ...others] = certificateIds.map(referenceOf)
  return {
    ...(unknownNames === 'default'
      ? { defaultRef: first, sniRefs: others }
      : { defaultRef: null, sniRefs: certificateIds.map(referenceOf) }),
    versions: VERSIONS_FROM[minVersion],
    ciphers: cipherText(ciphers),
    alpn,
    clientAuthentication: clients === null ? 'NONE' : clients.required ? 'MANDATORY' : 'OPTIONAL',
    clientCaRef: clients && referenceOf(clients.caCertificateId),
    clientCrlRef: clients?.crlCertificateId ? referenceOf(clients.crlCertificateId) : null,
    hstsMaxAge: hsts?.maxAgeSeconds ?? null,
    hstsSubdomains: hsts?.includeSubdomains ?? false,
    hstsPreload: hsts?.preload ?? false,
  }
}

/** @throws OctaviaFault for what Octavia refuses or what is not supported here */
export function foldTls({ protocol, tls, model }: OctaviaListener): Listener['tls'] {
  const { defaultRef, sniRefs, versions, ciphers, alpn } = tls
  const hsts = hstsOf(tls)
  const refs = [...(defaultRef === null ? [] : [defaultRef]), ...sniRefs]
  if (protocol !== 'TERMINATED_HTTPS') {
    if (hsts !== null)
      throw validationFailure('The HSTS feature can only be used for listeners using the TERMINATED_HTTPS protocol.')
    if (
      refs.length === 0 &&
      tls.clientCaRef === null &&
      tls.clientCrlRef === null &&
      tls.clientAuthentication === 'NONE'
    )
      return null
    if (protocol === 'UDP' || protocol === 'SCTP')
      throw validationFailure(`${protocol} protocol listener does not support TLS.`)
    throw validationFailure(`Certificate container references are not allowed on ${protocol} protocol listeners.`)
  }
  if (refs.length === 0)
    throw validationFailure(
      `An SNI or default certificate container reference must be provided for ${protocol} protocol listeners.`,
    )
  const clientCertificates = clientsOf(tls, model.tls?.clientCertificates?.acceptInvalid)
  return {
    certificateIds: [...new Set(refs.map(certificateId))],
    unknownNames: defaultRef === null ? 'refuse' : 'default',
    minVersion: versions === null ? DEFAULTS.minVersion : minVersionOf(versions),
    ciphers: ciphersOf(ciphers),
    alpn: alpn === null ? [...DEFAULTS.alpn] : alpnOf(alpn),
    hsts,
    clientCertificates,
  }
}

/**
 * Converts the verification of clients. As in Octavia, authorities alone do not make a listener request certificates of
 * clients.
 * @param acceptInvalid the present value. Octavia has no such option, so changes through its API keep it
 */
function clientsOf(
  { clientAuthentication, clientCaRef, clientCrlRef }: OctaviaTls,
  acceptInvalid?: boolean,
): ListenerTls['clientCertificates'] {
  if (clientCaRef === null) {
    if (clientCrlRef !== null)
      throw validationFailure(
        'A client authentication CA reference is required to specify a client authentication revocation list.',
      )
    if (clientAuthentication === 'NONE') return null
    throw validationFailure(
      `Client authentication setting ${clientAuthentication} requires a client CA container reference.`,
    )
  }
  if (clientAuthentication === 'NONE')
    throw unsupportedOption('client_authentication NONE: authorities are kept here for clients that are asked')
  return {
    caCertificateId: certificateId(clientCaRef),
    required: clientAuthentication === 'MANDATORY',
    ...(clientAuthentication === 'MANDATORY' || acceptInvalid === undefined ? {} : { acceptInvalid }),
    ...(clientCrlRef === null ? {} : { crlCertificateId: certificateId(clientCrlRef) }),
  }
}

function hstsOf({ hstsMaxAge, hstsSubdomains, hstsPreload }: OctaviaTls): ListenerTls['hsts'] {
  if (hstsMaxAge !== null) return { maxAgeSeconds: hstsMaxAge, includeSubdomains: hstsSubdomains, preload: hstsPreload }
  if (hstsSubdomains || hstsPreload)
    throw validationFailure(
      'HSTS configuration options hsts_include_subdomains and hsts_preload only make sense if hsts_max_age is set as well.',
    )
  return null
}

/** Octavia's fault for references that the key manager does not know. */
export const notRetrieved = (refs: readonly string[]): OctaviaFault =>
  new OctaviaFault(400, `Could not retrieve certificate: [${refs.map((ref) => `'${pythonText(ref)}'`).join(', ')}]`)

/**
 * A reference of a key manager: `https://HOST/PATH/v1/secrets/ID` or `…/containers/ID`. As in Octavia, only the id
 * counts.
 */
const KEY_MANAGER_REFERENCE = /^https?:\/\/\S+\/(?:secrets|containers)\/([^/]+)\/?$/

/**
 * The id of the certificate that a reference names, directly or by the secret or container that it is made from.
 * @throws OctaviaFault
 */
export function certificateId(ref: string): string {
  const id = dashedUuid(KEY_MANAGER_REFERENCE.exec(ref)?.[1] ?? ref)
  if (!listenerTls.shape.certificateIds.safeParse([id]).success) throw notRetrieved([ref])
  return id
}

export function minVersionOf(versions: readonly string[]): ListenerTls['minVersion'] {
  if (versions.length === 0)
    throw validationFailure(
      'Empty TLS version list. Either specify at least one TLS version or remove this parameter to use the default.',
    )
  const unknown = versions.filter((version) => !VERSIONS.some((one) => one === version))
  if (unknown.length > 0)
    throw validationFailure(`Invalid TLS versions: ${unknown.map((each) => pythonText(each)).join(', ')}`)
  const tooOld = versions.filter((version) => OLD_VERSIONS.some((one) => one === version))
  if (tooOld.length > 0)
    throw validationFailure(`Requested TLS versions are less than the minimum: ${tooOld.join(', ')} < TLSv1.2`)
  const wanted = [...new Set(versions)].sort().join()
  for (const minVersion of ['1.2', '1.3'] as const) if (VERSIONS_FROM[minVersion].join() === wanted) return minVersion
  throw unsupportedOption(`tls_versions ${pythonText(versions)}: TLSv1.3 is always among them here, and TLSv1.2 or not`)
}

/** Also what is printed where no ciphers are set. */
export const cipherText = (ciphers: readonly Cipher[] | null): string => (ciphers ?? DEFAULT_CIPHERS).join(':')

const DEFAULT_TEXT = cipherText(null)
/** Octavia takes the text as it is. */
const CIPHER_TEXT = /^[A-Za-z0-9\-+!:@=_.]+$/

/**
 * @returns null for the default, and for the text that is printed for the default
 * @throws OctaviaFault that names each refused cipher and says why
 */
export function ciphersOf(text: string | null): Cipher[] | null {
  if (text === null || text === '' || text === DEFAULT_TEXT) return null
  if (!CIPHER_TEXT.test(text))
    throw validationFailure(
      'Invalid characters in cipher string. Only alphanumeric, -, +, !, :, @, =, _, and . are allowed.',
    )
  const names = [...new Set(text.split(':'))]
  const refused = names.filter((name) => !isCipher(name))
  if (refused.length > 0) {
    const reasons = refused.map((name) => `${name} ${whyNoCipher(name)}`).join(', ')
    throw validationFailure(`The following ciphers have been prohibited by an administrator: ${reasons}`)
  }
  return names.filter(isCipher)
}

export function alpnOf(protocols: readonly string[]): ListenerTls['alpn'] {
  if (protocols.length === 0)
    throw validationFailure(
      'Empty ALPN protocol list. Either specify at least one ALPN protocol or remove this parameter to use the default.',
    )
  const unknown = protocols.filter((protocol) => !ALPN_PROTOCOLS.some((one) => one === protocol))
  if (unknown.length > 0)
    throw validationFailure(`Invalid ALPN protocol: ${unknown.map((each) => pythonText(each)).join(', ')}`)
  return [...new Set(protocols)].map((protocol) => {
    if (protocol === 'h2' || protocol === 'http/1.1') return protocol
    throw unsupportedOption(`alpn_protocols ${protocol}: h2 and http/1.1 are negotiated here`)
  })
}
