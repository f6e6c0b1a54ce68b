/** The sections of the runbook (`docs/runbook.md`), which the page shows beside a problem. */
export interface Runbook {
  /** By the anchor of the heading. */
  readonly sections: ReadonlyMap<string, RunbookSection>
  /** The anchor of the section for a code of a problem, such as `NoFabricAddress`. */
  readonly anchors: ReadonlyMap<string, string>
}

export interface RunbookSection {
  readonly title: string
  readonly blocks: readonly Block[]
}

/** A part of a section. Tables are rows of cells, the head first. */
export type Block =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'code'; readonly text: string }
  | { readonly is: 'steps'; readonly items: readonly string[] }
  | { readonly is: 'points'; readonly items: readonly string[] }
  | { readonly is: 'table'; readonly rows: readonly (readonly string[])[] }

/** Reads the runbook: its headings of the second level, and its table of symptoms. @param markdown the whole file */
export function readRunbook(markdown: string): Runbook {
  const [beginning = '', ...parts] = markdown.split(/^## /m)
  const sections = new Map(
    parts.map((part) => {
      const [title = '', text = ''] = part.split(/\n([\s\S]*)/)
      return [anchorOf(title), { title, blocks: blocksOf(text) }] as const
    }),
  )
  const rows = [...beginning.matchAll(/^\| (.+) \| \[[^\]]+\]\(#([^)]+)\) \|$/gm)]
  const anchors = rows.flatMap(([, symptoms = '', anchor = '']) =>
    [...symptoms.matchAll(/`([^`]+)`/g)].map(([, code = '']) => [code, anchor] as const),
  )
  return { sections, anchors: new Map(anchors) }
}

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

const blocksOf = (text: string): readonly Block[] => {
  const [before = '', code, after = ''] = text.split(/^```\w*\n([\s\S]*?)^```\n?/m)
  if (code === undefined) return before.split(/\n{2,}/).flatMap(blockOf)
  return [...blocksOf(before), { is: 'code', text: code.trimEnd() }, ...blocksOf(after)]
}

function blockOf(paragraph: string): readonly Block[] {
  const text = paragraph.trim()
  if (text === '') return []
  const [begin = '', ...items] = text.split(/^(?:\d+\.|-) /m)
  if (items.length > 0 && begin.trim() === '') {
    const joined = items.map((item) => item.replace(/\s*\n\s*/g, ' ').trim())
    return [text.startsWith('-') ? { is: 'points', items: joined } : { is: 'steps', items: joined }]
  }
  if (text.startsWith('|')) return [{ is: 'table', rows: rowsOf(text) }]
  return [{ is: 'text', text: text.replace(/\s*\n\s*/g, ' ') }]
}

const rowsOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )

/** Links become their words: the page leads to no foreign host. */
export const withoutLinks = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '')
