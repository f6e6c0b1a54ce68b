import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { pipeline } from 'node:stream'
import type { Clock, Logger, Timer } from '@spout/runtime'
import { VERSION } from '@spout/runtime/version'
import type { TakeRequest } from '../http/ahead-of-handlers.ts'
import { CLIENT_HEADER } from './client-of-request.ts'
import { passedHeaders } from './passed-headers.ts'
import type { PeerCredentials } from './peer-credentials.ts'
import { answerUnavailable } from './unavailable-answer.ts'

/** Where a request is answered. */
export type Destination =
  | { readonly at: 'here' }
  /** @see PeerServer */
  | { readonly at: 'peer'; readonly url: string }
  | { readonly at: 'nowhere'; readonly reason: string }

export interface RelayOptions {
  readonly credentials: PeerCredentials
  /** Asked for each request. */
  readonly destination: () => Destination
  readonly clock: Clock
  readonly log: Logger
}

/** The leader's certificate is of another authority: the two are not of one installation. */
export class ForeignAuthority extends Error {
  override readonly name = 'ForeignAuthority'
}

const CONNECT_MS = 2000
const PROBE_MS = 5000
/** How often a leader that could not be reached is asked again, if no client asks. */
const ASK_AGAIN_MS = 1000
/** An idle connection to the leader is closed after this time. */
const IDLE_MS = 60_000
const MOST_IDLE = 64
/** Says whether the process lives, whoever leads. */
const OWN_PATH = '/healthz'
/** Says what the process that answers is, so the one that passes it on says of itself what version it has. */
const ABOUT_PATH = '/api/v1/control-plane'
const PASSED_ON_BY = 'spout-passed-on-by'
const FOREIGN: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/**
 * Passes the requests of clients on to the control plane that leads, and its answers back, as streams. So all answers are
 * those of one process: what was written through any is visible through each, and statuses are known. When another leads,
 * requests that the earlier one still has are ended: their clients ask again.
 */
export class Relay {
  readonly #options: RelayOptions
  #agent = newAgent()
  /** The URL of the leader that `#agent` has connections to. */
  #url: string | null = null
  #trouble: string | null = null
  #askingAgain: Timer | null = null

  constructor(options: RelayOptions) {
    this.#options = options
  }

  /** Why the last request did not reach the leader; null when it did. */
  get trouble(): string | null {
    return this.#options.destination().at === 'peer' ? this.#trouble : null
  }

  /** Call when another may lead. */
  refresh(): void {
    const destination = this.#options.destination()
    const url = destination.at === 'peer' ? destination.url : null
    if (url === this.#url) return
    this.close()
    this.#url = url
    this.#trouble = null
  }

  /** Ends all requests that were passed on. */
  close(): void {
    this.#askingAgain?.clear()
    this.#askingAgain = null
    const ended = this.#agent
    this.#agent = newAgent()
    ended.destroy()
  }

  readonly take: TakeRequest = (request, response, handle) => {
    const destination = this.#options.destination()
    if (destination.at === 'here' || request.url === OWN_PATH) return handle()
    if (destination.at === 'nowhere') return answerUnavailable(response, destination.reason)
    this.refresh()
    this.#pass(destination.url, request, response)
  }

  /**
   * Asks the leader whether it lives; without a leader elsewhere, nothing.
   * @throws ForeignAuthority
   */
  async probe(): Promise<void> {
    const destination = this.#options.destination()
    if (destination.at !== 'peer') return
    this.refresh()
    const asked = this.#request(destination.url, {
      method: 'GET',
      path: OWN_PATH,
      headers: { [CLIENT_HEADER]: 'local' },
    })
    asked.setTimeout(PROBE_MS, () => asked.destroy(new Error('no answer')))
    const failure = await new Promise<Error | null>((resolve) => {
      asked.on('response', (answer) => void answer.resume().on('close', () => resolve(null)))
      asked.on('error', resolve)
      asked.end()
    })
    if (failure !== null && FOREIGN.has((failure as NodeJS.ErrnoException).code))
      throw new ForeignAuthority(failure.message)
  }

  #pass(url: string, request: IncomingMessage, response: ServerResponse): void {
    const { method, url: path } = request
    const headers = { ...passedHeaders(request), [CLIENT_HEADER]: request.socket.remoteAddress ?? '' }
    const outgoing = this.#request(url, { ...(method && { method }), ...(path && { path }), headers })
    let isSent = false
    let isAnswered = false
    outgoing.on('socket', (socket) => {
      const sent = () => {
        isSent = true
      }
      if (socket.connecting) socket.once('secureConnect', sent)
      else sent()
    })
    outgoing.on('response', (answer) => {
      isAnswered = true
      const about = path === ABOUT_PATH && answer.statusCode === 200 ? { [PASSED_ON_BY]: VERSION } : {}
      response.writeHead(answer.statusCode ?? 502, { ...passedHeaders(answer), ...about })
      // The head of a watch that is silent at first.
      if (answer.headers['content-length'] === undefined) response.flushHeaders()
      pipeline(answer, response, () => {})
    })
    outgoing.on('error', () => {
      if (isAnswered || response.destroyed) return
      request.unpipe(outgoing)
      request.resume()
      if (isSent) answerUnavailable(response, 'the one that leads went away, and may have carried it out', 'unknown')
      else answerUnavailable(response, 'the one that leads cannot be reached')
    })
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
    })
    request.pipe(outgoing)
  }

  #request(
    url: string,
    options: {
      readonly method?: string
      readonly path?: string
      readonly headers: OutgoingHttpHeaders
    },
  ): ClientRequest {
    const agent = this.#agent
    const { ca, current } = this.#options.credentials
    const { hostname, port } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    const outgoing = httpsRequest({
      ...{ ...options, host, port, agent, setHost: false },
      // Else the name that the client called would be verified.
      servername: isIP(host) === 0 ? host : '',
      ...{ ca, cert: current.certificate, key: current.key, minVersion: 'TLSv1.3' },
    })
    outgoing.on('socket', (socket) => {
      const { connecting } = socket
      if (!connecting) return this.#reached()
      const late = setTimeout(() => outgoing.destroy(new Error(`no connection within ${CONNECT_MS} ms`)), CONNECT_MS)
      outgoing.once('close', () => clearTimeout(late))
      socket.once('secureConnect', () => {
        clearTimeout(late)
        this.#reached()
      })
    })
    outgoing.on('error', (error) => {
      // What was ended because another leads is no trouble with that one.
      if (agent !== this.#agent) return
      if (this.#trouble === null)
        this.#options.log.warn({ event: 'leader-unreachable', err: error, leader: url }, 'requests are not passed on')
      this.#trouble = `${url}: ${error.message}`
      this.#askAgain()
    })
    return outgoing
  }

  #askAgain(): void {
    this.#askingAgain ??= this.#options.clock.setTimer(() => {
      this.#askingAgain = null
      this.probe().catch(() => {})
    }, ASK_AGAIN_MS)
  }

  #reached(): void {
    this.#trouble = null
  }
}

const newAgent = (): Agent => new Agent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS })
