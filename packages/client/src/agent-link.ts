import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { EDITS_VERSION, type Edit } from '@spout/model/edits'
import { LEADER_HEADER, type LeaderTerm, parseLeaderTerm } from '@spout/model/leader-term'
import type { NodeReport } from '@spout/model/node-report'
import type { NodeStateEntry } from '@spout/model/node-state'
import { bodyText } from '@spout/runtime'
import { LineSplitter } from '@spout/runtime/ndjson'

/** One line of the state stream. An entry that the stream did not name between its start and `synced` is deleted. */
export type StateLine =
  | { readonly type: 'put'; readonly hash: string; readonly entry: NodeStateEntry }
  /** Edits of a large entry that this stream put before. `from` is the hash of the version that they apply to. */
  | {
      readonly type: 'edit'
      readonly key: string
      readonly from: string
      readonly hash: string
      readonly edits: readonly Edit[]
    }
  | { readonly type: 'delete'; readonly key: string }
  | { readonly type: 'synced' }
  | { readonly type: 'heartbeat' }

/** Which server to talk to, and which certificate to show. All PEM. */
export interface LinkIdentity {
  /** `https://host:port` of the agent link. */
  readonly url: string
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

/** The server's refusal of a call on the agent link. */
export class LinkRefused extends Error {
  override readonly name = 'LinkRefused'
  readonly status: number

  constructor(status: number, detail: string) {
    super(`the server answered ${status}: ${detail}`)
    this.status = status
  }
}

/** The agent's side of the link; docs/design/0003-agent-link.md. */
export interface AgentLink {
  /**
   * The node's state as lines, in the batches that they arrived in, so that a batch can be applied together. Ends when
   * the server ends the stream.
   * @param admit called before the first line with the server's term, which lasts as long as the stream; null if its
   * store counts none. What it throws ends the stream
   * @throws LinkRefused when the server refuses; Error when the connection breaks or is silent for `silenceMs`
   */
  state(signal: AbortSignal, admit?: (term: LeaderTerm | null) => Promise<void>): AsyncIterable<readonly StateLine[]>
  /** @throws Error when it did not arrive. Sending it again is harmless */
  report(report: NodeReport, signal: AbortSignal): Promise<{ readonly resend: boolean }>
  renew(csr: string, signal: AbortSignal): Promise<IssuedCertificate>
  /**
   * Certificates of the listeners of a load balancer that this node carries. A server may give all of them: before it
   * knew the parameter it did, and it does when the ids are too many for a URL.
   * @param certificateIds those that are asked for
   * @throws LinkRefused when it does not carry it; Error when no answer came
   */
  certificates(
    loadBalancerId: string,
    certificateIds: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ListenerCertificate[]>
  close(): void
}

/** One version of a certificate, with its private key. */
export interface ListenerCertificate {
  readonly contentId: string
  /** Chain and key. */
  readonly pem: string
}

export interface IssuedCertificate {
  readonly certificate: string
  readonly ca: string
}

const REPORT_TIMEOUT_MS = 5000
/** All certificates of a load balancer, with their chains. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024
const textOf = (response: IncomingMessage): Promise<string> => bodyText(response, { mostBytes: MOST_ANSWER_BYTES })

/** Ids in a URL: some 4 kB, of 16 that Node.js takes as a header. */
const MOST_NAMED = 100

/** @param silenceMs a stream without a line for this long is dead: the server sends a heartbeat every second */
export function createAgentLink(identity: LinkIdentity, silenceMs = 4000): AgentLink {
  const agent = new Agent({
    keepAlive: true,
    minVersion: 'TLSv1.3',
    ca: identity.ca,
    cert: identity.certificate,
    key: identity.key,
  })
  const call = <T>(path: string, body: unknown, signal: AbortSignal): Promise<T> =>
    postJson<T>(new URL(path, identity.url), body, { agent, signal, timeout: REPORT_TIMEOUT_MS })
  return {
    state: (signal, admit) => {
      const url = new URL(`/agent/v1/state?edits=${EDITS_VERSION}`, identity.url)
      return stateLines(url, { agent, signal, timeout: silenceMs }, admit)
    },
    report: (report, signal) => call('/agent/v1/report', report, signal),
    renew: (csr, signal) => call('/agent/v1/renew', { csr }, signal),
    certificates: async (loadBalancerId, certificateIds, signal) => {
      const url = new URL(`/agent/v1/load-balancers/${loadBalancerId}/certificates`, identity.url)
      if (certificateIds.length <= MOST_NAMED) url.searchParams.set('ids', certificateIds.join())
      const options = { agent, signal, timeout: REPORT_TIMEOUT_MS }
      const { certificates } = await getJson<{ certificates: readonly ListenerCertificate[] }>(url, options)
      return certificates
    },
    close: () => agent.destroy(),
  }
}

async function* stateLines(
  url: URL,
  options: RequestOptions,
  admit: (term: LeaderTerm | null) => Promise<void> = async () => {},
): AsyncGenerator<readonly StateLine[]> {
  const response = await send(url, { ...options, method: 'GET', headers: { accept: 'application/x-ndjson' } }, null)
  if (response.statusCode !== 200) throw new LinkRefused(response.statusCode ?? 0, await textOf(response))
  try {
    await admit(parseLeaderTerm(response.headers[LEADER_HEADER]))
  } catch (error) {
    response.destroy()
    throw error
  }
  const splitter = new LineSplitter()
  for await (const chunk of response) {
    const lines = splitter.push(chunk as Buffer).filter((line) => line !== '')
    if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as StateLine)
  }
}

/** POSTs JSON and reads the JSON answer. Enrolment uses it too, which has no client certificate yet. */
export async function postJson<T>(url: URL, body: unknown, options: RequestOptions): Promise<T> {
  const text = Buffer.from(JSON.stringify(body))
  const headers = { 'content-type': 'application/json', 'content-length': text.length }
  return jsonOf<T>(await send(url, { ...options, method: 'POST', headers }, text))
}

const getJson = async <T>(url: URL, options: RequestOptions): Promise<T> =>
  jsonOf<T>(await send(url, { ...options, method: 'GET' }, null))

async function jsonOf<T>(response: IncomingMessage): Promise<T> {
  const answer = await textOf(response)
  if (response.statusCode === undefined || response.statusCode >= 300)
    throw new LinkRefused(response.statusCode ?? 0, answer.slice(0, 500))
  return JSON.parse(answer) as T
}

/**
 * Resolves with the response's head. After `options.timeout` of silence the socket is destroyed, and the body with it.
 */
function send(url: URL, options: RequestOptions, body: Buffer | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, resolve)
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer for ${options.timeout} ms`)))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
