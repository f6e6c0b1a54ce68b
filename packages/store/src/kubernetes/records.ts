import { collectionPath, isNotFound, KubeError, type KubeRequest, objectPath, type Transport } from '@spout/kube'
import { LABELS, type RecordContent, type RecordRole, STORE_RECORDS, type StoreRecord } from './record.ts'

/** Which store, of which cluster. */
export interface RecordsOptions {
  readonly transport: Transport
  readonly namespace: string
  /** Of the store: lower case letters, digits and `-`, at most 40. */
  readonly name: string
  /** This process: of no other, nor of an earlier start of this one. */
  readonly writer: string
}

/** A read that takes longer is a failure. */
const READ_DEADLINE_MS = 5000
/** A write that is not answered by then is asked for. */
const WRITE_DEADLINE_MS = 8000
/** A list is long. */
const LIST_DEADLINE_MS = 60_000
/** A page must be shorter than the longest answer that is read, 64 MiB. */
const PAGE_SIZES: Readonly<Record<RecordRole, number>> = { root: 1, slot: 256, part: 16, lease: 256 }
/** The server sends a bookmark once a minute. */
const SILENCE_MS = 90_000

/** What a watch reports. */
type RecordEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: StoreRecord }
  | { readonly type: 'ERROR'; readonly object: { readonly message?: string } }

interface RecordPage {
  readonly items: readonly StoreRecord[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

/** The records of one store, as requests to the API server. */
export class Records {
  readonly writer: string
  readonly #options: RecordsOptions

  constructor(options: RecordsOptions) {
    this.#options = options
    this.writer = options.writer
  }

  /** @param key empty where there is one record of the role */
  nameOf(role: RecordRole, key: string): string {
    return `${this.#options.name}-${role}${key === '' ? '' : `-${key}`}`
  }

  /** The newest version; null when there is none. @param key of no other record of this role */
  async get(role: RecordRole, key = ''): Promise<StoreRecord | null> {
    const name = { namespace: this.#options.namespace, name: this.nameOf(role, key) }
    try {
      return await this.#options.transport.request<StoreRecord>({
        ...{ method: 'GET', path: objectPath(STORE_RECORDS, name), deadlineMs: READ_DEADLINE_MS },
      })
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /**
   * Creates a record, or replaces one version of it. Only what the server has not carried out is repeated.
   * @param version the version to replace; null creates it
   * @param how such as a shorter time
   * @throws KubeError `isTaken`: there is another version. KubeUnreachable and KubeError from 500 on: it may be carried
   * out all the same, or still be under way
   */
  async put(
    role: RecordRole,
    key: string,
    content: RecordContent,
    version: string | null,
    how: Partial<KubeRequest> = {},
  ): Promise<StoreRecord> {
    const { transport, namespace } = this.#options
    const name = this.nameOf(role, key)
    const { apiVersion, kind } = STORE_RECORDS
    const metadata = {
      namespace,
      name,
      labels: this.#labels(role, content),
      ...(version && { resourceVersion: version }),
    }
    return transport.request<StoreRecord>({
      ...(version === null
        ? { method: 'POST', path: collectionPath(STORE_RECORDS, namespace) }
        : { method: 'PUT', path: objectPath(STORE_RECORDS, metadata) }),
      body: { apiVersion, kind, metadata, spec: content },
      ...{ deadlineMs: WRITE_DEADLINE_MS, idempotent: false },
      ...how,
    })
  }

  /** Does nothing when it is gone. */
  async delete(name: string): Promise<void> {
    const { transport, namespace } = this.#options
    const path = objectPath(STORE_RECORDS, { namespace, name })
    await transport
      .request<unknown>({ method: 'DELETE', path, deadlineMs: READ_DEADLINE_MS })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
  }

  /** All records of a role, as they are at one moment. @param but parts of other sets only */
  async list(role: RecordRole, but?: string): Promise<readonly StoreRecord[]> {
    const found: StoreRecord[] = []
    const selector = `${LABELS.role}=${role}${but === undefined ? '' : `,${LABELS.set}!=${but}`}`
    for (let next: string | undefined, more = true; more; more = next !== undefined) {
      const page = await this.#page(selector, { limit: PAGE_SIZES[role], continue: next })
      found.push(...(page.items ?? []))
      next = page.metadata.continue || undefined
    }
    return found
  }

  /**
   * What other processes write from now on. Ends when the server ends the watch properly.
   * @param onOpen called once nothing is missed any more: what was written before can be read
   * @throws KubeError, KubeUnreachable
   */
  async *watch(signal: AbortSignal, onOpen: () => void): AsyncGenerator<StoreRecord, void> {
    const { transport, namespace } = this.#options
    const once = { signal, deadlineMs: READ_DEADLINE_MS, retry: false }
    const { metadata } = await this.#page(`${LABELS.role}=root`, { limit: 1 }, once)
    const stream = transport.lines({
      path: collectionPath(STORE_RECORDS, namespace),
      query: {
        ...{ watch: true, allowWatchBookmarks: true, resourceVersion: metadata.resourceVersion },
        labelSelector: this.#selector(`${LABELS.role} in (root,slot,lease),${LABELS.writer}!=${this.writer}`),
      },
      ...{ signal, silenceMs: SILENCE_MS, onOpen },
    })
    for await (const lines of stream)
      for (const line of lines) {
        const event = JSON.parse(line) as RecordEvent
        if (event.type === 'ERROR') throw new Error(`the watch failed: ${event.object.message}`)
        // A record that this process replaces was deleted, as seen by a watch of what others write.
        if (event.type === 'ADDED' || event.type === 'MODIFIED') yield event.object
      }
  }

  /** @throws KubeError 404: the kind or the namespace is not there */
  async #page(
    selector: string,
    place: { readonly limit: number; readonly continue?: string | undefined },
    how: Partial<KubeRequest> = { deadlineMs: LIST_DEADLINE_MS },
  ): Promise<RecordPage> {
    const { transport, namespace } = this.#options
    return transport.request<RecordPage>({
      method: 'GET',
      path: collectionPath(STORE_RECORDS, namespace),
      query: { labelSelector: this.#selector(selector), ...place },
      ...how,
    })
  }

  #selector(more: string): string {
    return `${LABELS.store}=${this.#options.name},${more}`
  }

  #labels(role: RecordRole, { id }: RecordContent): Readonly<Record<string, string>> {
    const labels = { [LABELS.store]: this.#options.name, [LABELS.role]: role, [LABELS.writer]: this.writer }
    return role === 'part' ? { ...labels, [LABELS.set]: id } : labels
  }
}

/** Whether another version is there than the one that was to be replaced. */
export const isTaken = (error: unknown): boolean => error instanceof KubeError && error.status === 409

/** Whether the server has refused a request, so that it never will be carried out. */
export const isRefusal = (error: unknown): error is KubeError => error instanceof KubeError && error.status < 500
