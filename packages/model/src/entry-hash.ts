import { createHash } from 'node:crypto'
import type { NodeStateEntry } from './node-state.ts'

/** JSON with object keys in order, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return listText(value)
  const fields = value as Readonly<Record<string, unknown>>
  return fieldsText(fields, Object.keys(fields).sort())
}

function listText(list: readonly unknown[]): string {
  let text = ''
  // Items of a list mostly have the same fields: thousands of members are sorted once.
  let [names, sorted]: [readonly string[], readonly string[]] = [[], []]
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    if (at > 0) text += ','
    if (item === null || typeof item !== 'object' || Array.isArray(item)) {
      text += canonicalJson(item)
      continue
    }
    const own = Object.keys(item)
    if (!isSame(own, names)) [names, sorted] = [own, [...own].sort()]
    text += fieldsText(item as Readonly<Record<string, unknown>>, sorted)
  }
  return `[${text}]`
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, at) => name === b[at])

function fieldsText(fields: Readonly<Record<string, unknown>>, sorted: readonly string[]): string {
  let text = ''
  for (const name of sorted) {
    const field = fields[name]
    if (field === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:`
    text += typeof field === 'number' && Number.isSafeInteger(field) ? String(field) : canonicalJson(field)
  }
  return `{${text}}`
}

/** What an entry is compared by: the first 128 bits of SHA-256 over its canonical JSON, hex. */
export const entryHash = (entry: NodeStateEntry): string =>
  createHash('sha256').update(canonicalJson(entry)).digest('hex').slice(0, 32)
