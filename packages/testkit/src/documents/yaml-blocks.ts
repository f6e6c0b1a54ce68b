import { documentedBlocks } from './blocks.ts'

/** The blocks of YAML of a page of the docs, in their order. */
export const documentedYaml = (page: string): readonly string[] =>
  documentedBlocks(page, 'yaml').map(({ lines }) => `${lines.join('\n')}\n`)

/** The block of YAML of a page that contains this text. @throws Error when there is none */
export function documented(page: string, containing: string): string {
  const found = documentedYaml(page).find((text) => text.includes(containing))
  if (found === undefined) throw new Error(`docs/${page} has no block of YAML with ${containing}`)
  return found
}
