import { readFileSync } from 'node:fs'
import path from 'node:path'

const DOCS = path.join(import.meta.dirname, '../../../../docs')

/** A fenced block of a page. */
export interface DocumentedBlock {
  /** The heading that it is under. */
  readonly heading: string
  readonly lines: readonly string[]
}

/** The blocks of a language of a page of the docs, such as `console`, in their order. */
export function documentedBlocks(page: string, language: string): readonly DocumentedBlock[] {
  const found: { heading: string; lines: string[] }[] = []
  let [heading, isOpen, isOurs] = ['', false, false]
  for (const line of readFileSync(path.join(DOCS, page), 'utf8').split('\n'))
    if (line.startsWith('```')) {
      isOpen = !isOpen
      isOurs = isOpen && line === `\`\`\`${language}`
      if (isOurs) found.push({ heading, lines: [] })
    } else if (isOurs) found.at(-1)!.lines.push(line)
    else if (!isOpen && /^#+ /.test(line)) heading = line.replace(/^#+ /, '')
  return found
}
