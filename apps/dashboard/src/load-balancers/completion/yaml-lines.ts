/** A line of YAML in block style, as its columns say. It need not be whole: somebody may be typing it. */
export interface YamlLine {
  /** Columns of the dashes that begin it. */
  readonly dashes: readonly number[]
  /** Where its content begins. */
  readonly column: number
  /** Null: it has none yet, or is an item of a list. */
  readonly key: string | null
  /** What stands behind the key, or all of it without one. */
  readonly value: string
  /** Neither blank nor a comment. */
  readonly hasContent: boolean
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s"'#[\]{}&*!|>%@`,-](?:[^:]|:(?=\S))*)):(?:\s+(.*)|)$/

export function yamlLine(line: string): YamlLine {
  const [, indent = '', marks = '', rest = ''] = /^( *)((?:-(?: +|$))*)(.*)$/s.exec(line) ?? []
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => indent.length + index)
  const content = rest.trimEnd()
  const [, double, single, plain, value = ''] = KEY.exec(content) ?? []
  const key = double ?? single ?? plain ?? null
  return {
    dashes,
    column: indent.length + marks.length,
    key,
    value: key === null ? content : value,
    hasContent: marks !== '' || (content !== '' && !content.startsWith('#')),
  }
}

/** What the value is, without a comment behind it and without quotes. */
export const scalarOf = (value: string): string =>
  value
    .replace(/(^|\s)#.*$/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')

/** Whether a value is a text of several lines, which stands below. */
export const isBlockText = (value: string): boolean => /^[|>][-+\d]*(\s|$)/.test(value)
