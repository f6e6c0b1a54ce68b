import type { ObjectOf } from '@spout/admission/contract'
import type { Kind } from '@spout/model'
import type { z } from 'zod'
import { type Collection, find } from './collection.ts'
import type { NativeContext } from './context.ts'
import { type Route, route } from './route.ts'

/** Operations on a collection that only administrators may use. Answers show the object as reading it does. */
export const adminRoutes = <K extends Kind>(collection: Collection<K>) => {
  const { path, schema, show } = collection
  const tag = path.split('/')[1] ?? ''
  const one = `${path}/:id`
  return {
    create: <S extends z.ZodType>(
      summary: string,
      body: S,
      create: (context: NativeContext, body: z.output<S>) => Promise<ObjectOf<K>>,
    ): Route =>
      route<z.ZodType<z.output<S>>>({
        method: 'POST',
        path,
        tag,
        summary,
        access: 'admin',
        body: body as z.ZodType<z.output<S>>,
        answer: { status: 201, schema },
        handle: async (context, call) => show(context, await create(context, call.body)),
      }),
    change: <S extends z.ZodType>(
      summary: string,
      body: S,
      change: (context: NativeContext, id: string, body: z.output<S>) => Promise<ObjectOf<K>>,
    ): Route =>
      route<z.ZodType<z.output<S>>>({
        method: 'PATCH',
        path: one,
        tag,
        summary,
        access: 'admin',
        body: body as z.ZodType<z.output<S>>,
        answer: { status: 200, schema },
        handle: async (context, { principal, params, body }) => {
          const { id } = find(collection, context, principal, params.id ?? '')
          return show(context, await change(context, id, body))
        },
      }),
    delete: (summary: string, remove: (context: NativeContext, id: string) => Promise<void>): Route =>
      route({
        method: 'DELETE',
        path: one,
        tag,
        summary,
        access: 'admin',
        body: null,
        answer: { status: 204, schema: null },
        handle: (context, { principal, params }) =>
          remove(context, find(collection, context, principal, params.id ?? '').id),
      }),
  }
}
