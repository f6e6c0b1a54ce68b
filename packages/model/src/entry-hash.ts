import { createHash } from 'node:crypto'
import type { NodeStateEntry } from './node-state.ts'

/** JSON with object keys in order, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = Object.entries(value as Record<string, unknown>).filter(([, field]) => field !== undefined)
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
}

/** What an entry is compared by: the first 128 bits of SHA-256 over its canonical JSON, hex. */
export const entryHash = (entry: NodeStateEntry): string =>
  createHash('sha256').update(canonicalJson(entry)).digest('hex').slice(0, 32)
