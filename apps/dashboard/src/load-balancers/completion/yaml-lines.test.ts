import { describe, expect, it } from 'vitest'
import { isBlockText, scalarOf, yamlLine } from './yaml-lines.ts'

describe('yamlLine', () => {
  it('finds dashes, key and value', () => {
    expect(yamlLine('  - name: web')).toMatchObject({ dashes: [2], column: 4, key: 'name', value: 'web' })
    expect(yamlLine('pools:')).toMatchObject({ dashes: [], column: 0, key: 'pools', value: '' })
    expect(yamlLine('- - a')).toMatchObject({ dashes: [0, 2], column: 4, key: null, value: 'a' })
    expect(yamlLine('  "a: b": c')).toMatchObject({ column: 2, key: 'a: b', value: 'c' })
    expect(yamlLine('url: http://x:80')).toMatchObject({ key: 'url', value: 'http://x:80' })
  })

  it('a word without a colon and a blank is no key', () => {
    for (const text of ['por', '10.0.0.11:80', '-x', '[a: b', '']) expect(yamlLine(text).key).toBeNull()
    expect(yamlLine('  -').dashes).toEqual([2])
  })

  it('blank lines and comments have no content', () => {
    expect(['', '   ', '# a: b', '  # x', '-', 'a'].map((text) => yamlLine(text).hasContent)).toEqual([
      ...[false, false, false, false],
      ...[true, true],
    ])
  })
})

it('a scalar is without comment and quotes', () => {
  expect(scalarOf('http  # plain')).toBe('http')
  expect(scalarOf('"1.2"')).toBe('1.2')
  expect(scalarOf('# nothing')).toBe('')
  expect(['|', '>-', '|2', 'a|'].map(isBlockText)).toEqual([true, true, true, false])
})
