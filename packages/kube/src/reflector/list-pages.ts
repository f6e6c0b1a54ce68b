import { isGone, KubeUnreachable } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { collectionPath, type KubeObject, type ObjectList, type Resource } from '../types/index.ts'

/** Selects objects of a resource. */
export interface Selection<Raw extends KubeObject> {
  readonly resource: Resource<Raw>
  /** All namespaces when left out. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface PageCounters {
  /** Pages read. */
  pages: number
  /** Lists restarted because the continue token had expired, or a page was too large. */
  listRestarts: number
  bytes: number
}

export interface ListPagesOptions<Raw extends KubeObject> {
  readonly transport: Transport
  readonly selection: Selection<Raw>
  readonly pageSize: number
  readonly signal: AbortSignal
  readonly counters: PageCounters
  /**
   * Called when a list of this version begins. If it begins again, the objects of the earlier attempt must be
   * discarded.
   */
  readonly onStart: (version: string) => void
  readonly onObject: (raw: Raw) => void
}

/** A list may restart this often. After that the server's history expires faster than we read, which is an error. */
const MAX_RESTARTS = 3

/** The selectors of the query, without paging. */
export const selectionQuery = (selection: Selection<KubeObject>) => ({
  labelSelector: selection.labelSelector,
  fieldSelector: selection.fieldSelector,
})

/**
 * Reads the newest state of a whole list in pages. `onObject` gets each object as its page arrives.
 *
 * @returns the resourceVersion to watch from: the first page's, so that changes during the reading are not missed
 * @throws KubeError, KubeUnreachable; objects up to then are not a complete list
 */
export async function listPages<Raw extends KubeObject>(options: ListPagesOptions<Raw>): Promise<string> {
  let { pageSize } = options
  for (let restarts = 0; ; restarts++) {
    try {
      return await onePass(options, pageSize)
    } catch (error) {
      const tooLarge = error instanceof KubeUnreachable && error.reason === 'too-large' && pageSize > 1
      if (restarts >= MAX_RESTARTS || !(tooLarge || isGone(error))) throw error
      if (tooLarge) pageSize = Math.max(1, Math.floor(pageSize / 8))
      options.counters.listRestarts++
    }
  }
}

async function onePass<Raw extends KubeObject>(options: ListPagesOptions<Raw>, pageSize: number): Promise<string> {
  const { transport, selection, signal, counters, onObject, onStart } = options
  const path = collectionPath(selection.resource, selection.namespace)
  let version: string | null = null
  let next: string | undefined
  do {
    const query = { ...selectionQuery(selection), limit: pageSize, continue: next }
    const page: ObjectList<Raw> = await transport.request<ObjectList<Raw>>({
      method: 'GET',
      path,
      query,
      signal,
      onBytes: (bytes) => {
        counters.bytes += bytes
      },
    })
    counters.pages++
    const { items } = page
    // Another kind of answer must not count as an empty list.
    if (page.metadata?.resourceVersion === undefined || !(items === null || Array.isArray(items)))
      throw new KubeUnreachable(`GET ${path}`, 'malformed', 'the answer is not a list')
    if (version === null) onStart(page.metadata.resourceVersion)
    version ??= page.metadata.resourceVersion
    for (const raw of items ?? []) onObject(raw)
    next = page.metadata.continue || undefined
  } while (next !== undefined)
  return version
}
