import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { type ListAnswer, listAnswer } from '../http/list-answer.ts'
import { givenTwice, queryOf } from '../http/query.ts'
import type { IdentityContext } from './context.ts'

type Shown = Readonly<Record<string, unknown>>

/** A list as Keystone sends it, with the query's filters on its top-level attributes. */
export function listBody(
  context: IdentityContext,
  request: FastifyRequest,
  plural: string,
  items: readonly Shown[],
): ListAnswer {
  const filters = [...queryOf(request)].filter(([name]) => items.some((item) => Object.hasOwn(item, name)))
  for (const [name, values] of filters) if (values.length > 1) throw givenTwice(name)
  const path = request.url.split('?', 1)[0]
  const kept = items.filter((item) => filters.every(([name, values]) => values.includes(String(item[name]))))
  const links = { self: `${context.baseUrl(request)}${path}`, previous: null, next: null }
  return listAnswer(plural, kept, { links })
}

export const notFound = (what: string, id: string): SpoutError => new SpoutError('NotFound', { what, id })
