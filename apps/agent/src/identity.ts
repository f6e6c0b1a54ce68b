import { X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LinkServers } from '@spout/agent'
import { type AgentLink, createAgentLink, LinkRefused } from '@spout/client/agent-link'
import { enrol, enrolByServiceAccount } from '@spout/client/enrolment'
import type { Clock, Component, Logger, Timer } from '@spout/runtime'
import { execOk, readFileOrNull, removeFile, writeFileAtomically } from '@spout/sys'

/** The identity of this node. All PEM, in one file, so that key and certificate always match. */
interface Identity {
  readonly nodeId: string
  readonly key: string
  readonly certificate: string
  readonly ca: string
}

export interface NodeIdentityOptions {
  /** Mode 0600. */
  readonly file: string
  readonly url: string
  /** The other servers of the installation. Default: none. */
  readonly others?: readonly string[]
  readonly enrolmentTokenFile: string
  /** Set if the agent runs in a pod, whose token enrols the node. */
  readonly pod?: { readonly tokenFile: string; readonly caFile: string } | null
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_EVERY_MS = 3_600_000
/** Certificates are renewed after this share of their validity. */
const RENEW_AFTER = 2 / 3

/**
 * The node's certificate and the link that uses it, to one server at a time. Enrols once with a token, then renews the
 * certificate in time.
 */
export class NodeIdentity implements Component, LinkServers {
  readonly name = 'node-identity'
  readonly #options: NodeIdentityOptions
  readonly #urls: readonly string[]
  #identity: Identity
  #link: AgentLink
  /** Index of the present server in `#urls`. */
  #at = 0
  #timer: Timer | null = null

  private constructor(options: NodeIdentityOptions, identity: Identity) {
    this.#options = options
    this.#urls = urlsOf(options)
    this.#identity = identity
    this.#link = this.#connect(identity)
  }

  /** @throws Error when the node has no identity yet and enrolment fails */
  static async open(options: NodeIdentityOptions): Promise<NodeIdentity> {
    const saved = await readFileOrNull(options.file)
    const known = saved === null ? null : (JSON.parse(saved.toString('utf8')) as Identity)
    const identity = known === null || (await isForeign(known, options)) ? await enrolNode(options) : known
    options.log.info({ event: 'identity', nodeId: identity.nodeId }, 'the node has its identity')
    return new NodeIdentity(options, identity)
  }

  get nodeId(): string {
    return this.#identity.nodeId
  }

  /** The link to the present server, with the current certificate. */
  get link(): AgentLink {
    return this.#link
  }

  get count(): number {
    return this.#urls.length
  }

  next(): void {
    if (this.count === 1) return
    this.#at = (this.#at + 1) % this.count
    this.#connectAnew()
  }

  start(): void {
    this.#later(0)
  }

  stop(): void {
    this.#timer?.clear()
    this.#link.close()
  }

  #later(delayMs: number): void {
    this.#timer = this.#options.clock.setTimer(() => void this.#look(), delayMs)
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options
    try {
      if (isDue(this.#identity.certificate, clock.now())) await this.#renew()
    } catch (error) {
      log.warn({ event: 'renewal-failed', err: error }, 'the certificate was not renewed; will try again')
    }
    this.#later(LOOK_EVERY_MS)
  }

  /** The certificate is written before it is used: the server accepts the old one until the new one is first shown. */
  async #renew(): Promise<void> {
    const { key, csr } = await makeRequest()
    const issued = await this.#link.renew(csr, AbortSignal.timeout(30_000))
    this.#identity = { nodeId: this.#identity.nodeId, key, ...issued }
    await save(this.#options.file, this.#identity)
    // This ends the state stream too, which reconnects over the new link.
    this.#connectAnew()
    this.#options.log.info({ event: 'certificate-renewed' }, 'the node has a new certificate')
  }

  #connectAnew(): void {
    const before = this.#link
    this.#link = this.#connect(this.#identity)
    before.close()
  }

  #connect({ ca, certificate, key }: Identity): AgentLink {
    return createAgentLink({ url: this.#urls[this.#at]!, ca, certificate, key })
  }
}

const urlsOf = ({ url, others = [] }: NodeIdentityOptions): readonly string[] => [url, ...others]

/** Whether the control plane has another authority now: it lost its state and does not know this node. */
async function isForeign({ ca }: Identity, { pod, log }: NodeIdentityOptions): Promise<boolean> {
  if (!pod) return false
  const current = await readFile(pod.caFile, 'utf8').catch(() => null)
  if (current === null || current.trim() === ca.trim()) return false
  log.warn({ event: 'authority-changed' }, 'the link has another authority: this node enrols anew')
  return true
}

interface CertificateRequest {
  readonly key: string
  readonly csr: string
}

/**
 * Keeps the request in a file until it is answered. A token is valid once, but the same request may be repeated, since
 * the answer or this process may be lost.
 */
async function enrolNode(options: NodeIdentityOptions): Promise<Identity> {
  const { enrolmentTokenFile, pod, file } = options
  const requestFile = `${file}.request`
  const asked = await readFileOrNull(requestFile)
  const request = asked === null ? await makeRequest() : (JSON.parse(asked.toString('utf8')) as CertificateRequest)
  if (asked === null) await save(requestFile, request)
  const { key, csr } = request
  const read = async (path: string): Promise<string> => (await readFile(path, 'utf8')).trim()
  const { nodeId, certificate, ca } = await firstAnswer(urlsOf(options), async (url) =>
    !pod
      ? enrol(url, await read(enrolmentTokenFile), csr)
      : enrolByServiceAccount(url, { serviceAccountToken: await read(pod.tokenFile), ca: await read(pod.caFile) }, csr),
  )
  const identity = { nodeId, key, certificate, ca }
  await save(file, identity)
  await removeFile(requestFile)
  return identity
}

const UNAVAILABLE = 503

/**
 * Asks the servers in turn until one answers. A refusal is an answer, unless the server says that it cannot answer now.
 * @throws LinkRefused, or the failure of the last server
 */
async function firstAnswer<T>(urls: readonly string[], ask: (url: string) => Promise<T>): Promise<T> {
  let failure: unknown = null
  for (const url of urls) {
    try {
      return await ask(url)
    } catch (error) {
      if (error instanceof LinkRefused && error.status !== UNAVAILABLE) throw error
      failure = error
    }
  }
  throw failure
}

async function save(file: string, identity: Identity | CertificateRequest): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, JSON.stringify(identity), { mode: 0o600 })
}

const PEM = /-----BEGIN (PRIVATE KEY|CERTIFICATE REQUEST)-----[^-]+-----END \1-----\n/g

/**
 * Creates an EC P-256 key and a certificate request, both read from openssl's standard output, so the key is in no
 * other file.
 */
async function makeRequest(): Promise<CertificateRequest> {
  const output = await execOk([
    'openssl',
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-'],
    ...['-subj', '/CN=spout-agent'],
  ])
  const blocks = new Map(Array.from(output.matchAll(PEM), ([pem, label]) => [label, pem]))
  const key = blocks.get('PRIVATE KEY')
  const csr = blocks.get('CERTIFICATE REQUEST')
  if (key === undefined || csr === undefined) throw new Error('openssl gave no key or no certificate request')
  return { key, csr }
}

function isDue(certificate: string, now: Date): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate)
  const from = Date.parse(validFrom)
  return now.getTime() > from + RENEW_AFTER * (Date.parse(validTo) - from)
}
