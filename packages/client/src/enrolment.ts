import { X509Certificate } from 'node:crypto'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { type IssuedCertificate, postJson } from './agent-link.ts'

const CONTACT_TIMEOUT_MS = 5000
/** A busy control plane takes less than this to answer. */
const ENROL_TIMEOUT_MS = 30_000

/** The two halves of an enrolment token: the secret, and the pin of the server's CA. */
export interface EnrolmentSecret {
  readonly secret: string
  /** First 32 hexadecimal digits of the SHA-256 of the CA certificate (DER). */
  readonly caPin: string
}

/** @throws Error when the text is not an enrolment token */
export function parseEnrolmentToken(text: string): EnrolmentSecret {
  const match = /^([^.\s]+)\.([0-9a-f]{32})$/.exec(text.trim())
  if (match?.[1] === undefined || match[2] === undefined)
    throw new Error('the enrolment token is not of the form <secret>.<32 hexadecimal digits>')
  return { secret: match[1], caPin: match[2] }
}

/**
 * Exchanges a one-time token and a certificate request for this node's certificate.
 *
 * The first contact trusts nothing but the token. One handshake fetches the CA certificate that the token pins. The
 * call that carries the secret then verifies the server against exactly that CA.
 */
export async function enrol(
  url: string,
  token: string,
  csr: string,
): Promise<IssuedCertificate & { readonly nodeId: string }> {
  const { secret, caPin } = parseEnrolmentToken(token)
  const ca = await fetchPinnedCa(new URL(url), caPin)
  return postJson(
    new URL('/agent/v1/enrol', url),
    { token: secret, csr },
    { ca, minVersion: 'TLSv1.3', timeout: ENROL_TIMEOUT_MS, agent: false },
  )
}

/**
 * Enrols by the service account token of the agent's pod. Only the cluster's administrators can write the CA file, so
 * nothing is pinned.
 */
export async function enrolByServiceAccount(
  url: string,
  { serviceAccountToken, ca }: { readonly serviceAccountToken: string; readonly ca: string },
  csr: string,
): Promise<IssuedCertificate & { readonly nodeId: string }> {
  return postJson(
    new URL('/agent/v1/enrol', url),
    { serviceAccountToken, csr },
    { ca, minVersion: 'TLSv1.3', timeout: ENROL_TIMEOUT_MS, agent: false },
  )
}

/** Finds the certificate with this fingerprint in the chain that a server presents. The chain is not verified. */
function fetchPinnedCa(url: URL, pin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Nothing is sent over this connection. Its only result is accepted by fingerprint alone.
    const socket = connect({
      host: url.hostname,
      port: Number(url.port || 443),
      servername: /^[\d.]+$|:/.test(url.hostname) ? '' : url.hostname,
      rejectUnauthorized: false,
    })
    socket.setTimeout(CONTACT_TIMEOUT_MS, () => socket.destroy(new Error(`${url.host} does not answer`)))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const ca = chainOf(socket.getPeerCertificate(true)).find((certificate) =>
        fingerprint(certificate).startsWith(pin),
      )
      socket.destroy()
      if (ca === undefined) reject(new Error(`${url.host} does not present the CA certificate that the token names`))
      else resolve(new X509Certificate(ca.raw).toString())
    })
  })
}

const fingerprint = (certificate: DetailedPeerCertificate): string =>
  certificate.fingerprint256.replaceAll(':', '').toLowerCase()

/** From leaf to root. A self-signed certificate names itself as its issuer. */
function chainOf(leaf: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = []
  for (
    let at: DetailedPeerCertificate | undefined = leaf;
    at?.raw !== undefined && !chain.includes(at);
    at = at.issuerCertificate
  )
    chain.push(at)
  return chain
}
