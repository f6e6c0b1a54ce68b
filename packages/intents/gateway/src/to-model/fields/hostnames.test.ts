import { expect, test } from 'vitest'
import { bySpecificity, hostsAt, intersection } from './hostnames.ts'

test.each([
  ['', '', ''],
  ['', 'a.example.com', 'a.example.com'],
  ['a.example.com', '', 'a.example.com'],
  ['*.example.com', 'a.example.com', 'a.example.com'],
  ['*.example.com', 'b.a.example.com', 'b.a.example.com'],
  ['*.example.com', 'example.com', null],
  ['*.example.com', 'badexample.com', null],
  ['*.example.com', '*.a.example.com', '*.a.example.com'],
  ['a.example.com', '*.example.com', 'a.example.com'],
  ['a.example.com', 'b.example.com', null],
])('listener "%s" and route "%s" have "%s" in common', (listener, route, expected) => {
  expect(intersection(listener, route)).toBe(expected)
})

test('a route without names has those of its listener; one whose names are elsewhere has none', () => {
  expect(hostsAt('*.example.com', [])).toEqual(['*.example.com'])
  expect(hostsAt('*.example.com', ['A.example.com', 'other.net'])).toEqual(['a.example.com'])
  expect(hostsAt('*.example.com', ['other.net'])).toBeNull()
})

test('the more specific name stands first', () => {
  const names = ['', '*.example.com', '*.a.example.com', 'b.a.example.com', 'example.com']
  expect(names.toSorted(bySpecificity)).toEqual([
    'b.a.example.com',
    'example.com',
    '*.a.example.com',
    '*.example.com',
    '',
  ])
})
