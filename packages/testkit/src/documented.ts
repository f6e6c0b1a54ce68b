import { readFileSync } from 'node:fs'
import path from 'node:path'

const DOCS = path.join(import.meta.dirname, '../../../docs')

/** The blocks of YAML of a page of the docs, in their order. */
export const documentedYaml = (page: string): readonly string[] =>
  [...readFileSync(path.join(DOCS, page), 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)

/** The block of YAML of a page that contains this text. @throws Error when there is none */
export function documented(page: string, containing: string): string {
  const found = documentedYaml(page).find((text) => text.includes(containing))
  if (found === undefined) throw new Error(`docs/${page} has no block of YAML with ${containing}`)
  return found
}
