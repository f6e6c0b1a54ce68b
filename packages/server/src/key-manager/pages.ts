import type { FastifyRequest } from 'fastify'
import { KeyManagerFault } from './fault.ts'

const DEFAULT_LIMIT = 10
const MOST = 100

const badQuery = () => new KeyManagerFault(400, 'URI provided invalid query string parameters.')

/** The parameters of a list. @param names those that it has besides `limit` and `offset` @throws KeyManagerFault */
export function listQuery(request: FastifyRequest, names: readonly string[]): URLSearchParams {
  const { searchParams } = new URL(request.url, 'http://localhost')
  for (const name of searchParams.keys())
    if (![...names, 'limit', 'offset'].includes(name) || searchParams.getAll(name).length > 1) throw badQuery()
  return searchParams
}

const count = (text: string | null, otherwise: number): number => {
  if (text === null) return otherwise
  if (!/^\d{1,9}$/.test(text)) throw badQuery()
  return Number(text)
}

/**
 * One page of a list, with links to its neighbours.
 * @param url of the list
 */
export function page<T>(
  plural: string,
  items: readonly T[],
  print: (item: T) => object,
  query: URLSearchParams,
  url: string,
) {
  const limit = Math.min(count(query.get('limit'), DEFAULT_LIMIT), MOST)
  const offset = count(query.get('offset'), 0)
  const link = (at: number): string => {
    const others = new URLSearchParams(query)
    others.set('limit', String(limit))
    others.set('offset', String(at))
    return `${url}?${others}`
  }
  const total = items.length
  return {
    [plural]: items.slice(offset, offset + limit).map(print),
    total,
    ...(limit > 0 && offset + limit < total && { next: link(offset + limit) }),
    ...(limit > 0 && offset > 0 && { previous: link(Math.max(0, offset - limit)) }),
  }
}
