import { isGone, KubeError, KubeUnreachable } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { collectionPath, type KubeObject, type ObjectList } from '../types/index.ts'
import { type Selection, selectionQuery } from './list-pages.ts'
import type { ListCause } from './reflector-options.ts'
import { isOlder } from './resource-version.ts'

/** The server's current version is older than one that it sent before: etcd was restored from a backup. */
export class HistoryWentBack extends Error {
  override readonly name = 'HistoryWentBack'
}

/**
 * Checks that the server has reached a version, before a watch resumes from it. After a restored backup, a watch from a
 * later version would stay silent until the server reaches it, and all events until then would be lost. The check reads
 * one object.
 *
 * @throws HistoryWentBack, KubeError, KubeUnreachable
 */
export async function checkHistory(
  transport: Transport,
  selection: Selection<KubeObject>,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = await transport.request<ObjectList<KubeObject>>({
    method: 'GET',
    path: collectionPath(selection.resource, selection.namespace),
    query: { ...selectionQuery(selection), limit: 1 },
    signal,
  })
  const now = metadata?.resourceVersion ?? ''
  if (isOlder(now, version)) throw new HistoryWentBack(`the server is at ${now}, but sent ${version} before`)
}

/**
 * How to continue after a broken watch: with a new list, or by resuming. `nonsense`: the server sent malformed data.
 */
export type Break = { readonly list: ListCause } | { readonly list: null; readonly nonsense: boolean }

/** Decides how to continue after an error. @param disordered whether events came out of order before the break */
export function breakOf(error: Error, disordered: boolean): Break {
  if (error instanceof HistoryWentBack) return { list: 'history' }
  if (isGone(error)) return { list: 'gone' }
  if (disordered) return { list: 'disorder' }
  if (error instanceof KubeError && (error.status === 400 || error.status === 422)) return { list: 'unresumable' }
  const nonsense = error instanceof KubeUnreachable && (error.reason === 'malformed' || error.reason === 'too-large')
  return { list: null, nonsense }
}
