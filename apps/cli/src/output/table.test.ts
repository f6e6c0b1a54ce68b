import { printable } from '@spout/runtime/printable'
import { describe, expect, it } from 'vitest'
import { printList, printOne } from './print.ts'
import { renderTable } from './table.ts'
import { displayWidth } from './width.ts'

describe('renderTable', () => {
  it('aligns double-width characters and leaves no trailing spaces', () => {
    expect(
      renderTable(
        ['NAME', 'PORT'],
        [
          ['負荷', '80'],
          ['a', ''],
        ],
        false,
      ),
    ).toBe('NAME  PORT\n負荷  80\na\n')
  })
  it('measures text without its colours', () => expect(displayWidth('\u001b[32mok\u001b[39m')).toBe(2))
})

describe('tenant text', () => {
  it('cannot repaint the terminal', () => {
    expect(printable('a\u001b[2Jb\r\nc\u202ed')).toBe('a\ufffd[2Jb\ufffd\ufffdc\ufffdd')
    const columns = [{ title: 'NAME', value: (row: Readonly<Record<string, unknown>>) => row.name }]
    expect(printList([{ name: 'x\u001b]0;owned\u0007' }], columns, { format: 'table', colour: false })).not.toContain(
      '\u001b',
    )
    expect(printOne({ name: 'x\u001b[1m' }, columns, { format: 'table', colour: false })).not.toContain('\u001b')
    expect(printList([{ name: 'x\ny' }], columns, { format: 'name', colour: false })).toBe('x\ufffdy\n')
  })
})
