import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bundled, documentedCommands, PRODUCT_ENVIRONMENT, run } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

// What docs/configuration.md says to type, typed: files that it shows are written, programs print what it shows.

const COMMANDS = documentedCommands('configuration.md')
const PROGRAMS = ['control-plane', 'agent'].map(
  (name) =>
    [`apps/${name}/src/main.ts`, bundled(path.resolve(import.meta.dirname, `../../${name}/src/main.ts`))] as const,
)

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-configuration-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('every command that prints something prints what the page shows', { timeout: 120_000 }, async () => {
  // The first two start programs that go on; others do that.
  const typed = COMMANDS.filter(({ printed }) => printed.length > 0)
  expect(COMMANDS.length - typed.length).toBe(2)
  for (const { command, printed } of typed) {
    const [, file] = /^cat (\S+)$/.exec(command) ?? []
    if (file !== undefined) {
      writeFileSync(path.join(directory, file), `${printed.join('\n')}\n`)
      continue
    }
    const script = PROGRAMS.reduce((text, [source, program]) => text.replaceAll(source, program), command)
    const argv = ['bash', '-c', `cd ${directory} && ${script}`]
    const { code, stdout, stderr } = await run(argv, { env: PRODUCT_ENVIRONMENT })
    expect([command, `${stdout}${stderr}`.trimEnd()]).toEqual([command, printed.join('\n')])
    expect([command, code]).toEqual([command, command.includes('--print-config') ? 0 : 2])
  }
})
