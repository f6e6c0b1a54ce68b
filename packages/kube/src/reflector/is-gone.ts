import { KubeUnreachable } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { collectionPath, type KubeObject, type ObjectList, type ObjectName, type Resource } from '../types/index.ts'
import { clusterUid } from './cluster-guard.ts'
import type { DeletionGuard } from './deletion-guard.ts'
import { HistoryWentBack } from './history.ts'
import { isOlder } from './resource-version.ts'

/** The object is missing, but another cluster may be answering, or the cluster may have lost objects. */
export class AbsenceUnconfirmed extends Error {
  override readonly name = 'AbsenceUnconfirmed'
}

export interface AbsenceQuestion {
  readonly transport: Transport
  readonly resource: Resource
  readonly object: ObjectName
  /** An object with another UID under this name is a different one. */
  readonly uid: string
  /** The newest version that the server has sent; '' for none. */
  readonly newest: string
  /** UID of kube-system in the object's cluster; null when unknown. */
  readonly clusterUid: () => string | null
  readonly deletionGuard: () => DeletionGuard | null
  readonly signal?: AbortSignal
  /** Time limit for all attempts together. */
  readonly deadlineMs?: number
}

/**
 * Asks the server whether an object is gone, whatever the watch has shown so far. It requests a list without a version,
 * which etcd answers with a quorum read, so the answer is up to date. Like a reflector, it needs only permission to
 * list.
 *
 * @throws KubeError, KubeUnreachable; AbsenceUnconfirmed or HistoryWentBack when it is missing but may not be deleted
 */
export async function isGone(question: AbsenceQuestion): Promise<boolean> {
  const { transport, resource, object, uid, newest, signal, deadlineMs } = question
  const path = collectionPath(resource, object.namespace)
  const { metadata, items } = await transport.request<ObjectList<KubeObject>>({
    method: 'GET',
    path,
    query: { fieldSelector: `metadata.name=${object.name}` },
    signal,
    deadlineMs,
  })
  // Another kind of answer must not count as an empty list.
  if (metadata?.resourceVersion === undefined || !(items === null || Array.isArray(items)))
    throw new KubeUnreachable(`GET ${path}`, 'malformed', 'the answer is not a list')
  if (items?.some((one) => one.metadata.uid === uid)) return false
  const reason = question.deletionGuard()?.reason
  if (reason !== undefined) throw new AbsenceUnconfirmed(`${resource.kind}: missing objects are kept (${reason})`)
  if (isOlder(metadata.resourceVersion, newest))
    throw new HistoryWentBack(`the server is at ${metadata.resourceVersion}, but sent ${newest} before`)
  // Checked after the list, so that it notices when another cluster answered the list.
  const [known, now] = [question.clusterUid(), await clusterUid(transport, signal)]
  if (known !== null && now !== null && known !== now)
    throw new AbsenceUnconfirmed(`${resource.kind}: another cluster answers (${now})`)
  return true
}
