import type { ServerResponse } from 'node:http'
import type { ObjectOf } from '@spout/admission'
import type { Kind } from '@spout/model'
import type { Change, Revision } from '@spout/store'
import { isAdmin } from '../authn/access.ts'
import { errorOf } from '../http/error-of.ts'
import { queryValue } from '../http/query.ts'
import type { OpenStream } from '../limits/open-streams.ts'
import { BriefLines } from './brief-lines.ts'
import type { Collection } from './collection.ts'
import type { NativeContext } from './context.ts'
import { problemOf } from './problem.ts'
import { followReader } from './reader.ts'
import type { Call } from './route.ts'

/** A reader that takes nothing for so long is cut off; it can come back with `from`. */
const STALLED_READER_MS = 15_000

/**
 * Streams a collection's changes as NDJSON until the client goes, may not read on or the server closes. Objects are
 * shown as they are when their turn comes, so changes of one object may coalesce. `from` resumes after a revision.
 *
 * A reader who is demoted, disabled or deleted, or whose token ends, gets an ERROR line at once and nothing behind it.
 */
export async function watchCollection<K extends Kind>(
  collection: Collection<K>,
  context: NativeContext,
  call: Call<undefined>,
): Promise<void> {
  const { request, reply, principal } = call
  const from = queryValue(request, 'from')
  const stream = context.streams.open(principal.projectId ?? principal.userId)
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, context.closing])
  reply.hijack()
  const raw = reply.raw
  raw.on('close', () => gone.abort())
  raw.on('error', () => gone.abort())
  raw.writeHead(200, {
    'content-type': 'application/x-ndjson',
    'cache-control': 'no-store',
    'x-openstack-request-id': request.id,
  })
  const reader = followReader(context, call)
  const over = AbortSignal.any([signal, reader.lost])
  const writeAnyhow = lineWriter(raw, { signal, over, stream, cutOff: () => gone.abort() })
  const write: Write = async (line) => {
    if (!reader.lost.aborted) await writeAnyhow(line)
  }
  const told = from === null ? new Set<string>() : null
  const lines = linesOf(collection, context, queryValue(request, 'brief') === '1')
  const unsubscribe = followStatus(collection, context, call, told, lines, write)
  try {
    const start = (from ?? (await context.store.revision())) as Revision
    if (from === null) {
      await context.view.caughtUp(start)
      for (const object of context.view.list(collection.kind))
        if (collection.visible(principal, object)) {
          told?.add(object.id)
          const line = lines.of(object, 'ADDED')
          if (line !== null) await write(line)
          // A long list is told in pieces, between which others have their turn.
          await new Promise<void>((resolve) => setImmediate(resolve))
          if (over.aborted) break
        }
      await write({ type: 'BOOKMARK', revision: start })
    }
    for await (const change of context.store.watch({ kinds: [collection.kind], from: start, signal: over })) {
      if (change.type === 'delete') told?.delete(change.ref.id)
      await writeChange(collection, context, call, change, told, lines, write)
    }
    if (reader.refusal !== null) throw reader.refusal
  } catch (thrown) {
    const error = reader.refusal ?? thrown
    if (!signal.aborted) await writeAnyhow({ type: 'ERROR', error: problemOf(errorOf(error, request), request.id) })
  } finally {
    stream.close()
    reader.stop()
    unsubscribe()
    gone.abort()
    raw.end()
  }
}

type Write = (line: unknown) => Promise<void>

/** How objects are told of. */
interface Lines<K extends Kind> {
  /** The line about an object; null when there is nothing to tell. `revision` of the change, where it is about one. */
  of(object: ObjectOf<K>, type: 'ADDED' | 'MODIFIED', revision?: Revision): object | null
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

async function writeChange<K extends Kind>(
  { kind, visible }: Collection<K>,
  context: NativeContext,
  { principal }: Call<undefined>,
  change: Change,
  told: Set<string> | null,
  lines: Lines<K>,
  write: Write,
): Promise<void> {
  if (change.type === 'bookmark') return write({ type: 'BOOKMARK', revision: change.revision })
  if (change.type === 'delete') {
    lines.forget(change.ref.id)
    if (!isAdmin(principal) && change.scope !== principal.projectId) return
    return write({ type: 'DELETED', object: { id: change.ref.id }, revision: change.revision })
  }
  // The view knows the newest revisions, not any old one: what is newest covers this change too.
  await context.view.caughtUp(await context.store.revision())
  const object = context.view.get(kind, change.object.id)?.value
  // Deleted meanwhile: its own line follows.
  if (object === undefined || !visible(principal, object)) return
  const type = object.updatedAt === null ? 'ADDED' : 'MODIFIED'
  // Before the reader has taken it: a status that changes meanwhile has its line behind this one.
  told?.add(object.id)
  const line = lines.of(object, type, change.object.revision)
  if (line !== null) await write(line)
}

/** A status is not stored: its changes are told as the object modified, without a revision. */
function followStatus<K extends Kind>(
  collection: Collection<K>,
  context: NativeContext,
  { principal }: Call<undefined>,
  told: ReadonlySet<string> | null,
  lines: Lines<K>,
  write: Write,
): () => void {
  const { kind, visible } = collection
  if (kind !== 'loadBalancer' && kind !== 'node') return () => {}
  return context.status.onChange((changedKind, id) => {
    // Its status may be known before the reader was told of the object: then that line shows it already.
    if (changedKind !== kind || told?.has(id) === false) return
    const object = context.view.get(kind, id)?.value
    if (object === undefined || !visible(principal, object)) return
    const line = lines.of(object, 'MODIFIED')
    if (line !== null) void write(line)
  })
}

interface LineWriterOptions {
  /** After which nothing is written. */
  readonly signal: AbortSignal
  /** After which nothing is waited for. */
  readonly over: AbortSignal
  readonly stream: OpenStream
  readonly cutOff: () => void
}

/** Writes lines one after the other, each once the reader has taken what is before it. Resolves also when cut off. */
function lineWriter(raw: ServerResponse, { signal, over, stream, cutOff }: LineWriterOptions): Write {
  /** Thousands of status lines may wait at once: for one and the same thing. */
  let taken: Promise<void> | null = null
  const cut = () => {
    cutOff()
    raw.destroy()
  }
  const untilTaken = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        cut()
        finish()
      }, STALLED_READER_MS)
      const finish = () => {
        clearTimeout(timer)
        raw.off('drain', finish)
        over.removeEventListener('abort', finish)
        stream.holds(raw.writableLength)
        taken = null
        resolve()
      }
      raw.once('drain', finish)
      over.addEventListener('abort', finish, { once: true })
    })
  return async (line) => {
    if (signal.aborted) return
    const text = `${JSON.stringify(line)}\n`
    stream.told(text.length)
    if (raw.write(text)) return
    // Status lines do not wait for each other; nobody may make us hold more than this.
    if (!stream.holds(raw.writableLength)) return cut()
    if (over.aborted) return
    taken ??= untilTaken()
    await taken
  }
}
