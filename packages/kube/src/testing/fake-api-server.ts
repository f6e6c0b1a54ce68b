import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ClusterAccess } from '../access/cluster-access.ts'
import { collectionPath, type KubeObject, type Resource } from '../types/index.ts'
import { FakeStore, isIn, type StoredEvent } from './fake-store.ts'
import { type Answer, answerOne, ok, readBody, refusal, send } from './fake-writes.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: http.IncomingHttpHeaders
}

/** Answers a request in place of the server; returns false to leave it to the server. */
export type Fault = (request: SeenRequest, response: http.ServerResponse) => boolean

interface Watcher {
  readonly collection: string
  readonly response: http.ServerResponse
  readonly end: () => void
  stalled: boolean
}

const KUBE_SYSTEM = '/api/v1/namespaces/kube-system'

/**
 * Imitates an API server over real HTTP: lists in pages, watches with bookmarks, preconditions, and 410 after a
 * compaction. It misbehaves on demand, for tests of faults that a real kube-apiserver cannot be made to have. It checks
 * no schemas.
 */
export class FakeApiServer {
  readonly store = new FakeStore()
  readonly requests: SeenRequest[] = []
  /** Called in order for each request, until one takes it over. */
  readonly faults: Fault[] = []
  readonly #server: http.Server
  readonly #watchers = new Set<Watcher>()
  #distortion: ((event: StoredEvent) => readonly StoredEvent[]) | null = null
  #port = 0

  private constructor(tls: https.ServerOptions | null) {
    const handle: http.RequestListener = (request, response) => {
      this.#answer(request, response).catch((error: unknown) =>
        send(response, refusal(500, 'InternalError', String(error))),
      )
    }
    this.#server = tls === null ? http.createServer(handle) : https.createServer(tls, handle)
    this.store.put(KUBE_SYSTEM, { metadata: { name: 'kube-system' } })
  }

  static async start(tls: https.ServerOptions | null = null): Promise<FakeApiServer> {
    const fake = new FakeApiServer(tls)
    await fake.listen()
    return fake
  }

  get access(): ClusterAccess {
    return {
      server: new URL(`http://127.0.0.1:${this.#port}`),
      ca: null,
      tlsServerName: null,
      skipTlsVerify: false,
      token: null,
      clientCertificate: null,
      namespace: 'default',
    }
  }

  get port(): number {
    return this.#port
  }

  get watchers(): number {
    return this.#watchers.size
  }

  /** Listens on the port it had before, if any. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Stops listening and breaks all connections. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    if (this.#server.listening) await once(this.#server, 'close')
    this.#watchers.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  put<T extends KubeObject>(resource: Resource<T>, object: T): T {
    return this.store.put(pathOf(resource, object), object) as T
  }

  delete(resource: Resource, name: { readonly namespace?: string; readonly name: string }): void {
    this.store.delete(pathOf(resource, { metadata: name }))
  }

  /** Changes the UID of kube-system, as another cluster would have. */
  becomeAnotherCluster(uid: string): void {
    this.store.delete(KUBE_SYSTEM)
    this.store.put(KUBE_SYSTEM, { metadata: { name: 'kube-system', uid } })
  }

  /** Requests for a list from its beginning, without those for one object. */
  listsOf(resource: Resource): readonly SeenRequest[] {
    const path = collectionPath(resource)
    return this.requests.filter(
      ({ path: asked, query }) => asked === path && !query['watch'] && !query['continue'] && query['limit'] !== '1',
    )
  }

  /** Replaces the events that watches are sent from now on; null sends them as they are. */
  distort(how: ((event: StoredEvent) => readonly StoredEvent[]) | null): void {
    this.#distortion = how
  }

  /** Writes to the streams of all watches. */
  write(text: string): void {
    for (const { response, stalled } of this.#watchers) if (!stalled) response.write(text)
  }

  bookmark(version = this.store.version): void {
    this.write(
      `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'X', metadata: { resourceVersion: String(version) } } })}\n`,
    )
  }

  /** Ends all watches in good order, as at their time-out. */
  endWatches(): void {
    for (const { response, end } of this.#watchers) {
      end()
      response.end()
    }
    this.#watchers.clear()
  }

  /** Breaks the connections of all watches. */
  cutWatches(): void {
    for (const { response, end } of this.#watchers) {
      end()
      response.destroy()
    }
    this.#watchers.clear()
  }

  /** Keeps the watches open, but sends nothing more. */
  stallWatches(): void {
    for (const watcher of this.#watchers) {
      watcher.end()
      watcher.stalled = true
    }
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake')
    const seen: SeenRequest = {
      method: request.method ?? 'GET',
      path: decodeURIComponent(url.pathname),
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
    }
    this.requests.push(seen)
    for (const fault of [...this.faults]) if (fault(seen, response)) return
    const body = await readBody(request)
    const isCollection = isCollectionPath(seen.path)
    if (seen.method !== 'GET' || !isCollection) send(response, answerOne(this.store, { ...seen, isCollection }, body))
    else if (seen.query['watch'] === 'true') this.#watch(seen, response)
    else send(response, this.#list(seen))
  }

  #list({ path, query }: SeenRequest): Answer {
    const [from, version] = query['continue']?.split(':').map(Number) ?? [0, this.store.version]
    if (from === undefined || version === undefined) return refusal(400, 'BadRequest', 'no such token')
    if (query['continue'] && version < this.store.floor) return refusal(410, 'Expired', 'token is too old')
    const all = this.store.list(path, version).filter(selected(query))
    const to = query['limit'] === undefined ? all.length : from + Number(query['limit'])
    const more = to < all.length ? { continue: `${to}:${version}` } : {}
    return ok({
      kind: 'List',
      metadata: { resourceVersion: String(version), ...more },
      items: all.slice(from, to),
    })
  }

  #watch({ path, query }: SeenRequest, response: http.ServerResponse): void {
    const from = Number(query['resourceVersion'])
    if (from < this.store.floor) {
      // Like the real server, it opens the stream and sends the refusal as the first event.
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const isSelected = selected(query)
    const tell = (event: StoredEvent) => {
      if (!isIn(path, event.collection) || event.version <= from || !isSelected(event.object)) return
      const { type, object } = event
      response.write(`${JSON.stringify({ type, object })}\n`)
    }
    const hear = (event: StoredEvent) => {
      for (const told of this.#distortion?.(event) ?? [event]) tell(told)
    }
    for (const event of this.store.eventsAfter(path, from)) hear(event)
    const watcher: Watcher = { collection: path, response, end: this.store.onEvent(hear), stalled: false }
    this.#watchers.add(watcher)
    response.on('close', () => {
      watcher.end()
      this.#watchers.delete(watcher)
    })
  }
}

/** Whether an object matches the selectors of a query. It knows only the forms `a=b` and `metadata.name=b`. */
function selected(query: SeenRequest['query']): (object: KubeObject) => boolean {
  const [label, value] = query['labelSelector']?.split('=') ?? []
  const name = query['fieldSelector']?.replace(/^metadata\.name=/, '')
  return ({ metadata }) =>
    (label === undefined || metadata.labels?.[label] === value) && (name === undefined || metadata.name === name)
}

const isCollectionPath = (path: string): boolean => {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3)
  return parts[0] === 'namespaces' && parts.length > 2 ? parts.length === 3 : parts.length === 1
}

const pathOf = (resource: Resource, { metadata }: KubeObject): string =>
  `${collectionPath(resource, metadata.namespace)}/${metadata.name}`
