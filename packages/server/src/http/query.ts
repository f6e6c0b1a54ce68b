import type { FastifyRequest } from 'fastify'

/** The query as it was sent: every value of a repeated name, in order. */
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

/** The last value of a name, or null. */
export const queryValue = (request: FastifyRequest, name: string): string | null =>
  queryOf(request).get(name)?.at(-1) ?? null
