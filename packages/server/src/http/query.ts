import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'

/** The query as sent: every value of a repeated name, in order. */
export function queryOf(request: FastifyRequest): ReadonlyMap<string, readonly string[]> {
  const start = request.url.indexOf('?')
  const values = new Map<string, string[]>()
  if (start === -1) return values
  for (const [name, value] of new URLSearchParams(request.url.slice(start + 1))) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/**
 * The value of a name, or null. @throws SpoutError InvalidField if it is repeated, because either value would be a
 * guess
 */
export function queryValue(request: FastifyRequest, name: string): string | null {
  const [value = null, ...more] = queryOf(request).get(name) ?? []
  if (more.length > 0) throw givenTwice(name)
  return value
}

export const givenTwice = (name: string): SpoutError =>
  new SpoutError('InvalidField', { field: name, reason: 'is given more than once' })
