import { stringify } from 'yaml'
import type { Conversion } from './convert.ts'
import type { Note } from './source.ts'

/**
 * Prints the objects as YAML for `kubectl apply -f`, each with its origin and notes as comments; other notes first.
 * @param project the other project
 */
export function conversionYaml({ objects, notes }: Conversion, project: string): string {
  const count = objects.reduce((sum, one) => sum + one.notes.length, notes.length)
  const head = [
    `From ${project}: ${objects.length} objects, ${count} notes. A note says what has no equivalent or another meaning.`,
    ...notes.map((note) => lineOf(note, true)),
  ]
  const documents = objects.map(
    ({ object, from, notes: own }) =>
      `---\n${comment([...from.map((text) => `From ${text}`), ...own.map((note) => lineOf(note, from.length > 1))])}${stringify(object, { version: '1.1', lineWidth: 0 })}`,
  )
  return `${comment(head)}${documents.join('')}`
}

/** A note in one line, for people. */
export const lineOf = ({ where, about, field, text }: Note, withOrigin: boolean): string =>
  `NOTE ${withOrigin ? `${where}: ${about}: ` : ''}${field === null ? '' : `${field}: `}${text}`

const comment = (lines: readonly string[]): string => lines.map((line) => `# ${line}\n`).join('')
