import type { Step } from './schema-node.ts'
import { isBlockText, scalarOf, type YamlLine, yamlLine } from './yaml-lines.ts'

/** Where somebody types in a YAML document. */
export interface Place {
  /** The object or list around it. */
  readonly path: readonly Step[]
  /** The field whose value is typed; null: a field's name, or an item of a list. */
  readonly key: string | null
  /** What is typed so far. */
  readonly word: string
  /** Offsets of the whole word, of which a part may stand behind the cursor. */
  readonly from: number
  readonly to: number
  /** Where the word begins in its line. */
  readonly column: number
  /** Whether a colon follows. */
  readonly hasColon: boolean
  /** The other fields of the same object, with their values where these stand in the line. */
  readonly beside: ReadonlyMap<string, string>
}

/** @returns null where nothing can be completed: in comments, quotes, lists in brackets and texts of several lines */
export function placeAt(text: string, offset: number): Place | null {
  const at = Math.max(0, Math.min(text.length, offset))
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at)
  const typed = yamlLine(text.slice(start, at))
  // A blank behind the key makes it one: `port:8` is no key yet.
  const isValue = typed.key !== null && /\s/.test(text.slice(start + typed.column, at).slice(typed.key.length))
  const word = isValue ? typed.value.trimStart() : text.slice(start + typed.column, at)
  if (!/^[\w./-]*$/.test(word) || (isValue && /\s$/.test(text.slice(start, at)) && word !== '')) return null
  const before = text.slice(0, start).split('\n').slice(0, -1).map(yamlLine)
  const open = openAbove(before, typed)
  if (open === null) return null
  const rest = /^[\w./-]*/.exec(text.slice(at, end))?.[0].length ?? 0
  const after = text
    .slice(end + 1)
    .split('\n')
    .map(yamlLine)
  const column = typed.column
  return {
    path: open.map(({ key }) => key),
    key: isValue ? typed.key : null,
    word,
    from: at - word.length,
    to: at + rest,
    column: at - word.length - start,
    hasColon: /^\s*:/.test(text.slice(at + rest, end)),
    beside: fieldsBeside(typed.dashes.length > 0 ? [] : before, end < text.length ? after : [], column),
  }
}

interface Open {
  readonly column: number
  /** Null: an item of a list. */
  readonly key: Step
}

/** The fields and items around a line, from the outermost; null inside a text of several lines. */
function openAbove(before: readonly YamlLine[], typed: YamlLine): readonly Open[] | null {
  const open: Open[] = []
  /** The column of the field that has a text below it. */
  let textOf: number | null = null
  const close = (column: number, isDash: boolean): void => {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      // A list may stand in the column of the field that it belongs to.
      const isOver = last.column > column || (last.column === column && !(isDash && last.key !== null))
      if (!isOver) return
      open.pop()
    }
  }
  const enter = ({ dashes }: YamlLine): void => {
    for (const column of dashes) {
      close(column, true)
      open.push({ column, key: null })
    }
  }
  for (const line of before) {
    if (textOf !== null && (!line.hasContent || (line.dashes[0] ?? line.column) > textOf)) continue
    textOf = null
    if (!line.hasContent) continue
    enter(line)
    if (line.key === null) continue
    close(line.column, false)
    open.push({ column: line.column, key: line.key })
    if (isBlockText(line.value)) textOf = line.column
  }
  if (textOf !== null && (typed.dashes[0] ?? typed.column) > textOf) return null
  enter(typed)
  close(typed.column, false)
  return open
}

/** The fields of one object around a line, which begins in this column. */
function fieldsBeside(before: readonly YamlLine[], after: readonly YamlLine[], column: number) {
  const found = new Map<string, string>()
  const note = ({ key, value }: YamlLine): unknown => key !== null && found.set(key, scalarOf(value))
  for (const line of before.toReversed()) {
    if (!line.hasContent) continue
    if (line.column === column && (line.dashes.at(-1) ?? -1) < column) note(line)
    // Its first field stands behind the dash of its item, and what is further left is around it.
    if ((line.dashes[0] ?? line.column) < column) break
  }
  for (const line of after) {
    if (!line.hasContent) continue
    if ((line.dashes[0] ?? line.column) < column) break
    if (line.column === column && line.dashes.length === 0) note(line)
  }
  return found
}
