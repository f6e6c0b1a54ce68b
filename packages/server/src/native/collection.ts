import type { ObjectOf, Principal } from '@spout/admission'
import { type Kind, SpoutError } from '@spout/model'
import type { z } from 'zod'
import { queryValue } from '../http/query.ts'
import type { NativeContext } from './context.ts'
import { type Access, type Route, route } from './route.ts'
import { watchCollection } from './watch.ts'

/** A kind as the API offers it for reading: list, watch and one. */
export interface Collection<K extends Kind> {
  readonly kind: K
  readonly path: string
  /** For people: `Load balancer`. */
  readonly what: string
  readonly access: Access
  readonly schema: z.ZodType
  /** Whether the object exists for who asks. */
  readonly visible: (principal: Principal, object: ObjectOf<K>) => boolean
  /** The id clients know it by, where it is not the object's own. */
  readonly publicId?: (object: ObjectOf<K>) => string
  readonly show: (context: NativeContext, object: ObjectOf<K>) => Readonly<Record<string, unknown>>
}

const LIST_QUERY = {
  name: 'Only objects of this name',
  project: 'Only objects of this project',
  watch: '1 keeps the answer open as NDJSON of {type, object}: ADDED, MODIFIED, DELETED, BOOKMARK',
  from: 'With watch: after this revision; left out, what exists comes first',
} as const

/** The object if it exists for who asks. @throws SpoutError NotFound */
export function find<K extends Kind>(
  collection: Collection<K>,
  context: NativeContext,
  principal: Principal,
  id: string,
): ObjectOf<K> {
  const object = context.view.get(collection.kind, id)?.value
  if (object === undefined || !collection.visible(principal, object))
    throw new SpoutError('NotFound', { what: collection.what, id })
  return object
}

export function readRoutes<K extends Kind>(collection: Collection<K>): readonly Route[] {
  const { kind, path, what, access, schema, show, visible } = collection
  const tag = path.split('/')[1] ?? ''
  return [
    route({
      method: 'GET',
      path,
      tag,
      summary: `List: ${what.toLowerCase()}`,
      access,
      query: LIST_QUERY,
      body: null,
      answer: { status: 200, schema, list: true },
      handle: async (context, call) => {
        if (isTrue(queryValue(call.request, 'watch'))) return watchCollection(collection, context, call)
        const name = queryValue(call.request, 'name')
        const project = queryValue(call.request, 'project')
        // Taken first: watching from it may repeat what the list shows, and misses nothing.
        const revision = await context.store.revision()
        await context.view.caughtUp(revision)
        const items = context.view
          .list(kind)
          .filter((object) => visible(call.principal, object))
          .filter((object) => name === null || object.name === name)
          .filter((object) => project === null || ('projectId' in object && object.projectId === project))
          .map((object) => show(context, object))
        return { items, revision }
      },
    }),
    route({
      method: 'GET',
      path: `${path}/:id`,
      tag,
      summary: `Show: ${what.toLowerCase()}`,
      access,
      body: null,
      answer: { status: 200, schema },
      handle: (context, call) => show(context, find(collection, context, call.principal, call.params.id ?? '')),
    }),
  ]
}

const isTrue = (text: string | null): boolean => text === '1' || text === 'true'
