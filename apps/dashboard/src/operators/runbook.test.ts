import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRunbook, withoutLinks } from './runbook.ts'

const FILE = path.join(import.meta.dirname, '../../../../docs/runbook.md')

describe('the runbook', () => {
  const runbook = readRunbook(readFileSync(FILE, 'utf8'))

  it('has a section for every code of its table', () => {
    expect(runbook.anchors.get('NoFabricAddress')).toBe('a-node-has-no-fabric-address')
    expect(runbook.anchors.size).toBeGreaterThan(40)
    for (const [code, anchor] of runbook.anchors) expect(runbook.sections.get(anchor), code).toBeDefined()
  })

  it('loses no words of a section', () => {
    const { title, blocks } = runbook.sections.get('nobody-owns-a-shard')!
    expect(title).toBe('Nobody owns a shard')
    expect(blocks.map(({ is }) => is)).toEqual(['text', 'steps'])
    expect(blocks[1]).toMatchObject({ items: { length: 3 } })
  })
})

it('texts, steps, points, tables and code are told apart', () => {
  const { sections } = readRunbook(
    '# R\n\n## It is `so`\n\nOne\nline.\n\n1. a\n   b\n2. c\n\n- d\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```console\n$ e\n\nf\n```\n',
  )
  expect(sections.get('it-is-so')?.blocks).toEqual([
    { is: 'text', text: 'One line.' },
    { is: 'steps', items: ['a b', 'c'] },
    { is: 'points', items: ['d'] },
    {
      is: 'table',
      rows: [
        ['x', 'y'],
        ['1', '2'],
      ],
    },
    { is: 'code', text: '$ e\n\nf' },
  ])
})

it('links become words', () => {
  expect(withoutLinks('see `a | b` ([there](installing.md)), **now**')).toBe('see `a | b` (there), now')
})
