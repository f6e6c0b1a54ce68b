import { expect, it } from 'vitest'
import { member } from '../path/testing/explanation.ts'
import { shownMembers } from './shown-members.ts'

it('finds members by name, endpoint or state; those that are down come first', () => {
  const all = [member('web-1'), member('web-2', { health: 'down', port: 9000 }), member('api', { address: '10.0.0.7' })]
  const found = (text: string): readonly string[] => shownMembers(all, text).map(({ id }) => id)
  expect(found('')).toEqual(['web-2', 'web-1', 'api'])
  expect(found('WEB')).toEqual(['web-2', 'web-1'])
  expect(found('10.0.0.7')).toEqual(['api'])
  expect(found(':9000')).toEqual(['web-2'])
  expect(found('down')).toEqual(['web-2'])
})
