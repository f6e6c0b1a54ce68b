import { type PageShell, type TypedPage, waitFor } from '@spout/testkit'
import { expect } from 'vitest'

/** What differs between two runs of a command. */
const OWN: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID'],
  [/\breq-ID\b/g, 'REQUEST'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/\b198\.51\.100\.(?!0\/)\d+/g, 'ADDRESS'],
  [/\bnode[12]\b/g, 'NODE'],
  [/\bNODE, NODE\b/g, 'NODE'],
  [/\b[Ss]hard \d+/g, 'shard N'],
  [/\bgeneration \d+/g, 'generation N'],
  [/\b(NUMBER +)\d+/g, '$1N'],
]

/** The lines of a text without what is a run's own: ids, times, addresses, which node, widths of columns. */
const withoutOwn = (text: string): readonly string[] =>
  OWN.reduce((told, [pattern, word]) => told.replaceAll(pattern, word), text)
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))

/** Types a command that prints what the page shows, once what it waits for has happened. */
export async function printsAsShown(page: TypedPage, beginning: string, shell: PageShell): Promise<void> {
  const { command, printed } = page.take(beginning)
  const wanted = withoutOwn(printed.join('\n'))
  const said = async () => {
    const { stdout, stderr } = await shell(command)
    return withoutOwn(`${stdout}${stderr}`)
  }
  const first = await said()
  if (isEqual(first, wanted)) return
  // A change is typed once: only what reads may come to the page's words later.
  const reads = / (list|show|stats|explain) /.test(`${command} `)
  const last = reads
    ? await waitFor(async () => isEqual(await said(), wanted) && wanted, { what: command }).catch(said)
    : first
  expect(last, command).toEqual(wanted)
}

const isEqual = (one: readonly string[], other: readonly string[]): boolean => one.join('\n') === other.join('\n')

/** Names of columns, or of the fields of one object, in a table. */
export function fieldsOf(table: string): readonly string[] {
  const lines = table.trim().split('\n')
  const [header = ''] = lines
  const isOne = lines.every((line) => /^[A-Z][A-Z %]* {2}/.test(line)) && !/^\S+ {2,}[A-Z]+ {2,}/.test(header)
  return isOne ? lines.map((line) => line.split(/ {2,}/, 1)[0]!) : header.trim().split(/ {2,}/)
}

/** Types a command that succeeds, and prints a table with the fields that the page shows. @returns what it printed */
export async function hasFieldsShown(page: TypedPage, beginning: string, shell: PageShell): Promise<string> {
  const { command, printed } = page.take(beginning)
  const { code, stdout, stderr } = await shell(command)
  expect({ command, code, stderr, fields: fieldsOf(stdout) }).toEqual({
    ...{ command, code: 0, stderr: '' },
    fields: fieldsOf(printed.join('\n')),
  })
  return stdout
}
