import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must, run } from '@spout/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { FORMATS } from '../../output/print.ts'
import { buildProgram } from '../../program.ts'
import { printed } from '../../testing/printed.ts'
import { commandTable } from './command-table.ts'

/** What bash offers at the end of a line; the last word is the one that is being typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-completion-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const script = path.join(directory, 'spout')
  writeFileSync(script, await printed('completion', 'bash'))
  const ask = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spout; printf '%s\\n' "\${COMPREPLY[@]}"`
  const text = await must(['bash', '-c', ask, 'bash', script, 'spout', ...words])
  return text.split('\n').filter((line) => line !== '')
}

it('offers the commands of the table, and nothing that there is not', async () => {
  const program = buildProgram({ env: {}, colour: false, write: () => {}, signal: new AbortController().signal })
  const names = program.commands.map((command) => command.name()).sort()
  expect((await offered('')).toSorted()).toEqual(names)
  expect(await offered('liste')).toEqual(['listener'])
  expect(await offered('node', 'li')).toEqual(['list'])
  expect(await offered('node', 'none', 'x')).toEqual([])
})

it('offers options of the command, and their values', async () => {
  expect(await offered('node', 'list', '--out')).toEqual(['--output'])
  expect(await offered('node', 'list', '-o', '')).toEqual([...FORMATS])
  expect(await offered('node', 'list', '-o', 'json', '--wa')).toEqual(['--watch'])
  // The value of an option is no command.
  expect(await offered('node', 'list', '--output', 'list', '--wa')).toEqual(['--watch'])
  expect(await offered('--ver')).toEqual(['--version'])
})

it('every row of the table has its options in all three scripts', async () => {
  const program = buildProgram({ env: {}, colour: false, write: () => {}, signal: new AbortController().signal })
  const rows = commandTable(program)
  expect(rows.length).toBeGreaterThan(80)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await printed('completion', shell)
    for (const { path: command } of rows) expect(script).toContain(command)
    for (const long of new Set(rows.flatMap(({ options }) => options.flatMap(({ flags }) => flags))))
      expect(script).toContain(long.replace(/^--?/, ''))
  }
})

it('bash accepts the script', async () => {
  const { code, stderr } = await run(['bash', '-n'], { input: await printed('completion', 'bash') })
  expect([code, stderr]).toEqual([0, ''])
})

it('another shell is refused, with those that there are', async () => {
  await expect(printed('completion', 'csh')).rejects.toThrow('bash, zsh, fish')
})
