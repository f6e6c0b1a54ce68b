import { expect, it } from 'vitest'
import { circlesOf } from './graph.ts'

const graph = (arrows: Readonly<Record<string, string>>) =>
  new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to)]))

it('a file of a circle reaches itself; files that only lead into one, or out of one, are not in it', () => {
  expect(circlesOf(graph({ a: 'b', b: 'c', c: 'b', d: 'c' }))).toEqual([['b', 'c']])
})

it('two circles that share a file are one', () => {
  expect(circlesOf(graph({ a: 'b', b: 'ac', c: 'b', x: 'y', y: 'x' }))).toEqual([
    ['a', 'b', 'c'],
    ['x', 'y'],
  ])
})

it('two ways to the same file are no circle, and files outside of the graph are skipped', () => {
  expect(circlesOf(graph({ a: 'bc', b: 'd', c: 'd', d: 'z' }))).toEqual([])
})
