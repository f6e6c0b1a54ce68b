import { expect, it } from 'vitest'
import { ANNOUNCER_NAMES, ANNOUNCERS, announcerNamed, announcerNamesInWords, announcersInWords } from './registry.ts'

it.each(ANNOUNCERS)('$name has shards unless the planner chooses its node', ({ announcedBy, electedBy }) => {
  expect(electedBy === null).toBe(announcedBy === 'chosen-node')
})

it('has an announcer that elects for itself wherever one elects', () => {
  const electors = new Set(ANNOUNCERS.flatMap(({ electedBy }) => electedBy ?? []))
  expect([...electors].map((name) => announcerNamed(name).electedBy)).toEqual([...electors])
})

it('is told in words with every name', () => {
  for (const name of ANNOUNCER_NAMES) {
    expect(announcersInWords()).toMatch(new RegExp(`\\b${name}\\b`))
    expect(announcerNamesInWords()).toMatch(new RegExp(`\\b${name}\\b`))
  }
})
