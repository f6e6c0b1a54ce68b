import { KubeUnreachable } from '../transport/errors.ts'
import type { Transport } from '../transport/transport.ts'
import { collectionPath, type KubeObject, type ObjectList, type ObjectName, type Resource } from '../types/index.ts'
import { clusterUid } from './cluster-guard.ts'
import type { DeletionGuard } from './deletion-guard.ts'
import { HistoryWentBack } from './history.ts'
import { isOlder } from './resource-version.ts'

/** The object is missing, but this may be another cluster, or one that lost objects. */
export class AbsenceUnconfirmed extends Error {
  override readonly name = 'AbsenceUnconfirmed'
}

export interface AbsenceQuestion {
  readonly transport: Transport
  readonly resource: Resource
  readonly object: ObjectName
  /** Another object under this name is not it. */
  readonly uid: string
  /** The newest version that the server told before the question; '' for none. */
  readonly newest: string
  /** Whose objects they are, by the UID of kube-system; null when that is not known. */
  readonly clusterUid: () => string | null
  readonly deletionGuard: () => DeletionGuard | null
  readonly signal?: AbortSignal
  /** For all attempts together. */
  readonly deadlineMs?: number
}

/**
 * Whether an object is gone, as the server has it now and whatever a watch has yet to tell: a list that asks for no
 * version is as new as etcd's majority. It needs the right to list alone, as a reflector does.
 *
 * @throws KubeError, KubeUnreachable; AbsenceUnconfirmed, HistoryWentBack when it is not there and that may not mean much
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
  // A body of another kind must not count as an empty list.
  if (metadata?.resourceVersion === undefined || !(items === null || Array.isArray(items)))
    throw new KubeUnreachable(`GET ${path}`, 'malformed', 'the answer is no list')
  if (items?.some((one) => one.metadata.uid === uid)) return false
  const reason = question.deletionGuard()?.reason
  if (reason !== undefined) throw new AbsenceUnconfirmed(`${resource.kind}: missing objects are kept (${reason})`)
  if (isOlder(metadata.resourceVersion, newest))
    throw new HistoryWentBack(`the server is at ${metadata.resourceVersion}, but told ${newest} before`)
  // Asked after the list: had another server answered it, this would show it.
  const [known, now] = [question.clusterUid(), await clusterUid(transport, signal)]
  if (known !== null && now !== null && known !== now)
    throw new AbsenceUnconfirmed(`${resource.kind}: another cluster answers (${now})`)
  return true
}
