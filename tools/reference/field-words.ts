import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** What the sources say about fields, by name: each text once. Empty: nothing that is for people. */
export type FieldWords = ReadonlyMap<string, readonly string[]>

const COMMENTED_FIELD = /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\n\s+(\w+)(?::|,)/g

/** Reads the comments above fields in files of schemas. @param patterns of files below the root */
export function fieldWords(root: string, patterns: readonly string[]): FieldWords {
  const found = new Map<string, string[]>()
  for (const file of globSync([...patterns], { cwd: root, exclude: ['**/*.test.ts'] }).toSorted())
    for (const [, comment = '', name = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(COMMENTED_FIELD)) {
      const text = forPeople(comment)
      const known = found.get(name) ?? []
      if (!known.includes(text)) found.set(name, [...known, text])
    }
  return found
}

/** The sentences of a comment, without those about documents of earlier versions and about constants of the sources. */
const forPeople = (comment: string): string =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s?/, '').trim())
    .join(' ')
    .trim()
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !/earlier version|downgrade|`[A-Z_]+`/.test(sentence.replace('Earlier', 'earlier')))
    .join(' ')
