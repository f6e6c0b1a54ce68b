import type { ObjectOf, Principal } from '@spout/admission/contract'
import type { Kind } from '@spout/model'
import type { Change, Revision } from '@spout/store'
import { isAdmin } from '../../authn/access.ts'
import { errorOf } from '../../http/error-of.ts'
import { problemOf } from '../../http/problem.ts'
import { queryValue } from '../../http/query.ts'
import { shareOf } from '../../turns/share-of.ts'
import type { Collection } from '../operations/collection.ts'
import type { NativeContext } from '../operations/context.ts'
import type { Call } from '../operations/route.ts'
import { BriefLines } from './brief-lines.ts'
import { type Line, lineWriter, type WriteLine } from './line-writer.ts'
import { openAnswer } from './open-answer.ts'

/**
 * Streams a collection's changes as NDJSON until the client goes, loses its access or the server closes. Objects are
 * rendered when their turn comes, so changes of one object may coalesce. `from` resumes after a revision.
 *
 * A reader who is demoted, disabled or deleted, or whose token expires, gets an ERROR line at once and nothing after
 * it.
 */
export async function watchCollection<K extends Kind>(
  collection: Collection<K>,
  context: NativeContext,
  call: Call<undefined>,
): Promise<void> {
  const { request, principal } = call
  const from = queryValue(request, 'from')
  const answer = await openAnswer(context, call, 'application/x-ndjson')
  const { reader, over } = answer
  const writeAnyhow = lineWriter(answer, () => context.turns.next(shareOf(principal)))
  const write: WriteLine = (make) => writeAnyhow(() => (reader.lost.aborted ? null : make()))
  const watch: Watch<K> = {
    ...{ collection, context, principal, write },
    sent: from === null ? new Set() : null,
    lines: linesOf(collection, context, queryValue(request, 'brief') === '1'),
  }
  const unsubscribe = followStatus(watch)
  try {
    const start = (from ?? (await context.store.revision())) as Revision
    if (from === null) await writeExisting(watch, start, over)
    const scope = scopeOf(collection, principal)
    for await (const change of context.store.watch({ kinds: [collection.kind], scope, from: start, signal: over }))
      await writeChange(watch, change)
    if (reader.refusal !== null) throw reader.refusal
  } catch (thrown) {
    const error = reader.refusal ?? thrown
    await writeAnyhow(() => ({ type: 'ERROR', error: problemOf(errorOf(error, request), request.id) }))
  } finally {
    unsubscribe()
    answer.end()
  }
}

/** An open watch. */
interface Watch<K extends Kind> {
  readonly collection: Collection<K>
  readonly context: NativeContext
  readonly principal: Principal
  readonly lines: Lines<K>
  readonly write: WriteLine
  /** Ids of the objects that the reader has received; null when it resumes: then it may have received any. */
  readonly sent: Set<string> | null
}

/** The project that a watch is limited to; undefined for all. A caller without a project sees nothing of anybody. */
const scopeOf = <K extends Kind>({ ofProject }: Collection<K>, principal: Principal): string | undefined =>
  ofProject === true && !isAdmin(principal) ? (principal.projectId ?? '') : undefined

/** How objects are rendered as lines. */
interface Lines<K extends Kind> {
  /** The line about an object; null to skip it. `revision` is that of the change, if there is one. */
  of(object: ObjectOf<K>, type: 'ADDED' | 'MODIFIED', revision?: Revision): Line | null
  forget(id: string): void
}

function linesOf<K extends Kind>(collection: Collection<K>, context: NativeContext, brief: boolean): Lines<K> {
  if (brief && collection.kind === 'loadBalancer') return new BriefLines(context.status) as unknown as Lines<K>
  const { show, publicId } = collection
  return {
    of: (object, type, revision) => {
      const shown = publicId ? { ...show(context, object), id: publicId(object) } : show(context, object)
      return { type, object: shown, ...(revision === undefined ? {} : { revision }) }
    },
    forget: () => {},
  }
}

/** Sends the objects that exist, and then a bookmark of the revision at which the changes begin. */
async function writeExisting<K extends Kind>(
  { collection: { kind, visible }, context, principal, sent, lines, write }: Watch<K>,
  start: Revision,
  over: AbortSignal,
): Promise<void> {
  await context.view.caughtUp(start)
  for (const object of context.view.list(kind)) {
    if (!visible(principal, object)) continue
    await write(() => {
      sent?.add(object.id)
      return lines.of(object, 'ADDED')
    })
    if (over.aborted) break
  }
  await write(() => ({ type: 'BOOKMARK', revision: start }))
}

async function writeChange<K extends Kind>(
  { collection: { kind, visible }, context, principal, sent, lines, write }: Watch<K>,
  change: Change,
): Promise<void> {
  if (change.type === 'bookmark') return write(() => ({ type: 'BOOKMARK', revision: change.revision }))
  if (change.type === 'delete') {
    sent?.delete(change.ref.id)
    lines.forget(change.ref.id)
    if (!isAdmin(principal) && change.scope !== principal.projectId) return
    return write(() => ({ type: 'DELETED', object: { id: change.ref.id }, revision: change.revision }))
  }
  // The view knows only the newest revisions, so wait for one that includes this change.
  await context.view.caughtUp(await context.store.revision(change.object.revision))
  return write(() => {
    const object = context.view.get(kind, change.object.id)?.value
    // The object was deleted meanwhile. A line about that follows.
    if (object === undefined || !visible(principal, object)) return null
    sent?.add(object.id)
    return lines.of(object, object.updatedAt === null ? 'ADDED' : 'MODIFIED', change.object.revision)
  })
}

/**
 * Follows statuses, which are not stored. A change is sent as MODIFIED, without a revision. Several changes before the
 * line is made are one line.
 */
function followStatus<K extends Kind>({
  collection: { kind, visible },
  context,
  principal,
  sent,
  lines,
  write,
}: Watch<K>): () => void {
  if (kind !== 'loadBalancer' && kind !== 'node') return () => {}
  const due = new Set<string>()
  return context.status.onChange((changedKind, id) => {
    if (changedKind !== kind || due.has(id)) return
    const changed = context.view.get(kind, id)?.value
    // The line waits for a turn, so that a client with very many watches does not slow the changes of others.
    if (changed === undefined || !visible(principal, changed)) return
    due.add(id)
    void write(() => {
      due.delete(id)
      const object = context.view.get(kind, id)?.value
      // The reader has not received the object yet. The first line about it will show the status.
      if (object === undefined || sent?.has(id) === false || !visible(principal, object)) return null
      return lines.of(object, 'MODIFIED')
    })
  })
}
