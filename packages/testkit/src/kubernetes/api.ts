import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { KubernetesObject } from './objects.ts'

/** How to reach an API server: the contents of a kubeconfig as data. */
export interface KubernetesAccess {
  readonly url: string
  /** File with the authority's certificate, PEM. */
  readonly caFile: string
  readonly token: string
}

/** A refusal of the API server: `status` is the HTTP code, `reason` Kubernetes' word (NotFound, Conflict, ...). */
export class KubernetesApiError extends Error {
  override readonly name = 'KubernetesApiError'
  readonly status: number
  readonly reason: string

  constructor(what: string, status: number, text: string) {
    const said = parseStatus(text)
    super(`${what}: ${status} ${said.message}`)
    this.status = status
    this.reason = said.reason
  }
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

export interface KubernetesList<T> {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly T[]
}

export interface RequestOptions {
  /** An object is sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
  readonly timeoutMs?: number
}

const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
const APPLY_PATCH = 'application/apply-patch+yaml'

/**
 * The tests' own API client, for any identity, with `follow`. Paths are as in the API's documentation, such as
 * `/api/v1/nodes`.
 */
export class KubernetesApi {
  readonly access: KubernetesAccess
  readonly #agent: https.Agent
  readonly #ca: Buffer

  constructor(access: KubernetesAccess) {
    this.access = access
    this.#ca = readFileSync(access.caFile)
    this.#agent = new https.Agent({ keepAlive: true, ca: this.#ca })
  }

  /** The authority's certificate, PEM. */
  get authority(): string {
    return this.#ca.toString('utf8')
  }

  /** @throws KubernetesApiError when the answer is not 2xx; Error when there is none */
  async text(method: string, path: string, options: RequestOptions = {}): Promise<string> {
    const { body, contentType = 'application/json', timeoutMs = 15_000 } = options
    const payload = body === undefined ? null : JSON.stringify(body)
    const response = await this.#send(method, path, payload, contentType, AbortSignal.timeout(timeoutMs))
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) throw new KubernetesApiError(`${method} ${path}`, status, text)
    return text
  }

  async request<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    return JSON.parse(await this.text(method, path, options)) as T
  }

  get<T>(path: string): Promise<T> {
    return this.request('GET', path)
  }

  list<T>(path: string): Promise<KubernetesList<T>> {
    return this.request('GET', path)
  }

  create<T extends object>(path: string, body: T): Promise<T> {
    return this.request('POST', path, { body })
  }

  /** JSON merge patch (RFC 7386): for objects of any kind. */
  patch<T>(path: string, body: object): Promise<T> {
    return this.request('PATCH', path, { body, contentType: MERGE_PATCH })
  }

  /** Strategic merge patch: lists of built-in kinds are merged by their keys, conditions by type. */
  patchByKey<T>(path: string, body: object): Promise<T> {
    return this.request('PATCH', path, { body, contentType: STRATEGIC_PATCH })
  }

  /** Server-side apply as field manager `testkit`, with force. */
  apply<T>(path: string, body: object): Promise<T> {
    return this.request('PATCH', `${path}?fieldManager=testkit&force=true`, { body, contentType: APPLY_PATCH })
  }

  delete(path: string, body?: object): Promise<unknown> {
    return this.request('DELETE', path, body ? { body } : {})
  }

  /** Raw events from a revision on until the server or `signal` ends the stream. */
  async *watch<T>(path: string, resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const query = `${path.includes('?') ? '&' : '?'}watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`
    const response = await this.#send('GET', `${path}${query}`, null, '', signal)
    let rest = ''
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent<T>
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(
    method: string,
    path: string,
    payload: string | null,
    contentType: string,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.access.token}`,
        accept: 'application/json',
        ...(payload === null ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(payload) }),
      }
      const url = new URL(path, this.access.url)
      const request = https.request(url, { method, headers, agent: this.#agent, signal }, resolve)
      request.on('error', (error: NodeJS.ErrnoException) => {
        // A kept connection to a server that was killed fails only when it is used.
        const stale = request.reusedSocket && error.code === 'ECONNRESET' && method === 'GET'
        if (stale) this.#send(method, path, payload, contentType, signal).then(resolve, reject)
        else reject(error)
      })
      request.end(payload ?? undefined)
    })
  }
}

export interface Followed<T> {
  readonly changed: (object: T) => void
  readonly gone: (object: T) => void
  /** Called when every object of a list was reported. */
  readonly listed?: () => void
}

const RETRY_MS = 200

/**
 * Reports every object of a collection, existing and future ones, until `signal` is aborted. After any error it lists
 * again and reports the difference, so that nothing is missed.
 */
export async function follow<T extends KubernetesObject>(
  api: KubernetesApi,
  path: string,
  { changed, gone, listed }: Followed<T>,
  signal: AbortSignal,
): Promise<void> {
  const known = new Map<string, T>()
  while (!signal.aborted) {
    try {
      const list = await api.list<T>(path)
      const present = new Set(list.items.map(uidOf))
      for (const [uid, object] of known) if (!present.has(uid) && known.delete(uid)) gone(object)
      for (const object of list.items) {
        known.set(uidOf(object), object)
        changed(object)
      }
      listed?.()
      for await (const { type, object } of api.watch<T>(path, list.metadata.resourceVersion, signal)) {
        if (type === 'ERROR') break
        if (type === 'BOOKMARK') continue
        if (type === 'DELETED') {
          known.delete(uidOf(object))
          gone(object)
        } else {
          known.set(uidOf(object), object)
          changed(object)
        }
      }
    } catch {
      // The server is away, or the stream broke: the next list reports the difference.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

const uidOf = (object: KubernetesObject): string => object.metadata.uid ?? ''

function parseStatus(text: string): { readonly reason: string; readonly message: string } {
  try {
    const { reason = '', message = text } = JSON.parse(text) as { reason?: string; message?: string }
    return { reason, message }
  } catch {
    return { reason: '', message: text.slice(0, 500) }
  }
}
