import { SpoutError } from '@spout/model/errors'
import { parseAs } from '@spout/model/parse'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { DOCUMENT_SCHEMA } from '../completion/document-schema.ts'
import { reasonOf } from '../completion/reason-of.ts'
import { fieldNames } from '../completion/schema-node.ts'
import { withNearest } from '../completion/with-nearest.ts'
import { documentDraft } from './document-draft.ts'
import type { DocumentPool } from './document-pools.ts'
import { type FieldFault, unknownPool } from './unknown-pool.ts'
import { beginOfFault, yamlWords } from './yaml-words.ts'

export interface TextFault {
  /** From 1; null when it is about no line. */
  readonly line: number | null
  readonly reason: string
}

export interface CheckedText {
  /** Undefined: the text is no YAML of an object. A document with a fault may still be sent: the server decides. */
  readonly document: object | undefined
  readonly fault: TextFault | null
}

const unreadable = (line: number | null, reason: string): CheckedText => ({
  document: undefined,
  fault: { line, reason },
})

/**
 * Checks the YAML of a load balancer as far as the browser can. Aliases are refused: the text is data.
 * @param stored the pools of the version that was read
 */
export function checkedText(text: string, stored: readonly DocumentPool[] = []): CheckedText {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = yaml.errors
  if (error !== undefined) return unreadable(lines.linePos(beginOfFault(yaml, error)).line, yamlWords(error))
  const document: unknown = plain(() => yaml.toJS({ maxAliasCount: 0 }))
  if (document === undefined)
    return unreadable(null, 'The text may hold no aliases: a value that begins with * must stand in quotes.')
  if (typeof document !== 'object' || document === null) return unreadable(null, 'The text must be an object.')
  const fault = schemaFault(document) ?? unknownPool(document, stored)
  return { document, fault: fault && { line: lineOf(yaml, lines, fault.field), reason: fault.reason } }
}

function schemaFault(document: object): FieldFault | null {
  try {
    parseAs(documentDraft, document)
    return null
  } catch (wrong) {
    if (!(wrong instanceof SpoutError)) throw wrong
    const field = wrong.field ?? ''
    if (wrong.code === 'MissingField') {
      const misspelt = misspeltFor(document, field)
      if (misspelt !== null) return misspelt
    }
    const reason = reasonOf(wrong, pathOf(field), DOCUMENT_SCHEMA)
    return reason === null ? null : { field, reason }
  }
}

/** The unknown field that was likely meant to be the one that is missing: to name that one helps more. */
function misspeltFor(document: object, missing: string): FieldFault | null {
  const path = pathOf(missing)
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((at, step) => (at as Record<string, unknown> | null)?.[step], document)
  const names = fieldNames(
    DOCUMENT_SCHEMA,
    path.slice(0, -1).map((step) => (typeof step === 'number' ? null : step)),
  )
  const prefix = missing.slice(0, missing.length - String(path.at(-1)).length)
  for (const name of Object.keys(holder ?? {})) {
    if (names.includes(name)) continue
    const field = `${prefix}${name}`
    const reason = withNearest(`Field ${field} is not known here`, name, [String(path.at(-1))])
    if (reason.includes('did you mean')) return { field, reason }
  }
  return null
}

function plain(read: () => unknown): unknown {
  try {
    return read() ?? null
  } catch {
    return undefined
  }
}

/** The line of a field such as `pools[0].members[1].port`, or of the part that lacks it. */
export function lineOf(yaml: ReturnType<typeof parseDocument>, lines: LineCounter, field: string): number | null {
  const path = pathOf(field)
  for (let length = path.length; length > 0; length--) {
    const node = yaml.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return null
}

const pathOf = (field: string): readonly (string | number)[] =>
  [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, at]) => (at === undefined ? (name ?? '') : Number(at)))

/** The line of a field that the server refused. */
export function lineOfField(text: string, field: string): number | null {
  const lines = new LineCounter()
  return lineOf(parseDocument(text, { lineCounter: lines }), lines, field)
}
