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

it('takes no name for an option, wherever it stands', () => {
  const evil = '--endpoint=https://evil.example'
  expect(command(['spout', 'lb', 'create', evil], [['--pool', 'public']])).toBe(
    'spout lb create --pool public -- --endpoint=https://evil.example',
  )
  expect(command(['spout', 'pool', 'create', 'lb', evil], [['--backup', true]])).toBe(
    'spout pool create lb --backup -- --endpoint=https://evil.example',
  )
  expect(command(['x'], [['--name', '-a b']], ['lb'])).toBe("x --name='-a b' lb")
  expect(command(['x'], [], [evil])).toBe('x -- --endpoint=https://evil.example')
})
