import type { Kind } from '@spout/model'
import { sendList } from '../../http/long-answer.ts'
import { queryValue } from '../../http/query.ts'
import { shareOf } from '../../turns/share-of.ts'
import { type Collection, find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { watchCollection } from './watch.ts'

const LIST_QUERY = {
  name: 'Only objects of this name',
  project: 'Only objects of this project',
  watch: '1 keeps the answer open as NDJSON of {type, object}: ADDED, MODIFIED, DELETED, BOOKMARK',
  from: 'With watch: only changes after this revision; without it, existing objects come first',
  brief: 'With watch of load balancers: 1 sends CHANGED with edits in place of a whole object that was sent before',
} as const

/** List, watch and get of a collection. */
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
        // Read before the list: a watch from it may repeat what the list shows, but misses nothing.
        const revision = await context.store.revision()
        await context.view.caughtUp(revision)
        const objects = context.view
          .list(kind)
          .filter((object) => visible(call.principal, object))
          .filter((object) => name === null || object.name === name)
          .filter((object) => project === null || ('projectId' in object && object.projectId === project))
        const turn = () => context.turns.next(shareOf(call.principal))
        return sendList(call.reply, turn, objects, (object) => show(context, object), { revision })
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
