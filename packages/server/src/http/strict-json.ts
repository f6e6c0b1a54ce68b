import { SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'

/** Whether text may contain U+0000. Many programs end a text there, so it is refused unless text is passed through. */
export type NulInText = 'refused' | 'taken'

const MAX_DEPTH = 64
/** Names that could change every object of the process if parsed JSON is merged carelessly. */
const POISONOUS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses a JSON body.
 * @throws SpoutError MalformedJson for invalid UTF-8, invalid JSON, nesting beyond 64 levels and names that could reach
 * a prototype; InvalidField for text with U+0000
 */
export function parseStrictJson(body: Uint8Array, nul: NulInText = 'refused'): unknown {
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    value = JSON.parse(text)
  } catch (error) {
    // The parser's message can quote the body, and a body can contain a password.
    const reason = error instanceof SyntaxError ? 'it does not parse' : 'it is not UTF-8'
    throw new SpoutError('MalformedJson', { reason })
  }
  refuseHostileShapes(value)
  // Valid JSON can only contain it escaped.
  if (nul === 'refused' && text.includes('\\u0000')) refuseNul(value, '')
  return value
}

/** The depth is limited already. @throws SpoutError InvalidField naming the first text with U+0000 */
function refuseNul(value: unknown, path: string): void {
  if (typeof value === 'string' && value.includes('\0')) throw hasNul(path)
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    if (name.includes('\0')) throw hasNul(path)
    const place = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    refuseNul(field, place)
  }
}

const hasNul = (field: string): SpoutError =>
  new SpoutError('InvalidField', { field: field || '(body)', reason: 'must not contain the character U+0000' })

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

/** Only JSON bodies are read. An empty one counts as none: OpenStack's clients send DELETE with a content type. */
export function acceptStrictJson(app: FastifyInstance, nul: NulInText): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: string | Buffer) => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      return bytes.length === 0 ? undefined : parseStrictJson(bytes, nul)
    },
  )
}
