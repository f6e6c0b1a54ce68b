import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { bodyText } from '@spout/runtime'
import { readFileOrNull } from '@spout/sys'
import type { NodePlace } from '../place.ts'

export interface LinkReading {
  /** Of each control plane's agent link. Empty: the node's own settings name all its work. */
  readonly urls: readonly string[]
  readonly identityFile: string
  readonly enrolmentTokenFile: string
  readonly now: Date
  /** The node's certificate; null before it is enrolled. */
  readonly certificate: { readonly from: Date; readonly to: Date } | null
  /** What came of a request to each with this certificate; empty where there is none. */
  readonly answers: readonly LinkAnswer[]
}

export type LinkAnswer = { readonly url: string } & Outcome

type Outcome =
  /** `date`: the control plane's clock, to the second; null if the answer has none. */
  | { readonly outcome: 'answered'; readonly date: Date | null }
  /** The control plane has a certificate that the node's authority did not issue, or for another name. */
  | { readonly outcome: 'distrusted'; readonly error: string }
  /** The control plane does not take the node's certificate. */
  | { readonly outcome: 'refused'; readonly error: string }
  | { readonly outcome: 'silent'; readonly error: string }

interface Identity {
  readonly key: string
  readonly certificate: string
  readonly ca: string
}

const WITHIN_MS = 5_000

/** Reads the node's identity, and asks the control planes with it. Changes nothing at either end. */
export async function readLink({ identityFile, enrolmentTokenFile, linkUrls, now }: NodePlace): Promise<LinkReading> {
  const saved = await readFileOrNull(identityFile)
  const about = { urls: linkUrls, identityFile, enrolmentTokenFile, now: now() }
  if (saved === null) return { ...about, certificate: null, answers: [] }
  const identity = JSON.parse(saved.toString('utf8')) as Identity
  const { validFrom, validTo } = new X509Certificate(identity.certificate)
  const certificate = { from: new Date(validFrom), to: new Date(validTo) }
  const answers = linkUrls.map(async (url): Promise<LinkAnswer> => ({ url, ...(await ask(url, identity)) }))
  return { ...about, certificate, answers: await Promise.all(answers) }
}

/** Of a load balancer that does not exist: the answer says whether the link knows the node, and nothing else. */
const PATH = '/agent/v1/load-balancers/none/certificates?ids=none'
const UNAUTHENTICATED = 401
const MOST_BYTES = 64 * 1024

function ask(url: string, { key, certificate, ca }: Identity): Promise<Outcome> {
  return new Promise((resolve) => {
    const asked = request(new URL(PATH, url), { key, cert: certificate, ca, agent: false, timeout: WITHIN_MS })
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${WITHIN_MS / 1000} s`)))
    asked.on('error', (error: NodeJS.ErrnoException) => {
      const outcome = DISTRUST.test(error.code ?? '') ? 'distrusted' : 'silent'
      resolve({ outcome, error: error.message })
    })
    asked.on('response', async (response) => {
      const { date } = response.headers
      if (response.statusCode === UNAUTHENTICATED) resolve({ outcome: 'refused', error: await reasonOf(response) })
      else resolve({ outcome: 'answered', date: date === undefined ? null : new Date(date) })
      response.resume()
    })
    asked.end()
  })
}

/** OpenSSL's words for a server certificate that does not verify; node:tls has them as codes. */
const DISTRUST = /CERT|SELF_SIGNED|UNABLE_TO|SIGNATURE/

/** The reason in a problem document. */
async function reasonOf(response: IncomingMessage): Promise<string> {
  const text = await bodyText(response, { mostBytes: MOST_BYTES }).catch(() => '')
  try {
    return (JSON.parse(text) as { readonly detail?: string }).detail ?? text
  } catch {
    return text
  }
}
