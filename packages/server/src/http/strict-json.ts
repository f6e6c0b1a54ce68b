import { SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'

const MAX_DEPTH = 64
/** Names by which a careless merge of parsed JSON reaches every object of the process. */
const POISONOUS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses a JSON body.
 * @throws SpoutError MalformedJson for bytes that are no UTF-8, text that is no JSON, nesting beyond 64 levels and names
 *   that could reach a prototype
 */
export function parseStrictJson(body: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    // The parser's own words can quote the body, and a body can hold a password.
    const reason = error instanceof SyntaxError ? 'it does not parse' : 'it is not UTF-8'
    throw new SpoutError('MalformedJson', { reason })
  }
  refuseHostileShapes(value)
  return value
}

function refuseHostileShapes(root: unknown): void {
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SpoutError('MalformedJson', { reason: `it is nested deeper than ${MAX_DEPTH}` })
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Array.isArray(value)) {
        for (const item of value) next.push(item)
        continue
      }
      for (const [name, field] of Object.entries(value)) {
        if (POISONOUS.has(name)) throw new SpoutError('MalformedJson', { reason: `the name ${name} is not allowed` })
        next.push(field)
      }
    }
    level = next
  }
}

/** JSON is the one body that is read. An empty one is no body: OpenStack's clients send DELETE with a content type. */
export function acceptStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: string | Buffer) => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      return bytes.length === 0 ? undefined : parseStrictJson(bytes)
    },
  )
}
