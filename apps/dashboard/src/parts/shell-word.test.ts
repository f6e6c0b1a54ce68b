import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { command, shellWord } from './shell-word.ts'

it('is one word for a shell, whatever is in it', () => {
  for (const text of ['shop', '', "it's", '$(id)', '`id`', 'a b', '-x', '"', '\\', 'a\nb', '*', '~', 'ü'])
    expect(execFileSync('sh', ['-c', `printf '<%s>' ${shellWord(text)}`]).toString()).toBe(`<${text}>`)
})

it('leaves out options without a value, but not a zero', () => {
  expect(
    command(
      ['x'],
      [
        ['--a', null],
        ['--b', ''],
        ['--c', 0],
      ],
      ['y z'],
    ),
  ).toBe("x --c 0 'y z'")
})
