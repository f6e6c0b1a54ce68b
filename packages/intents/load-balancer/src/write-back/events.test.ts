import { expect, test } from 'vitest'
import { eventsOf } from './events.ts'

const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string, message = '') => ({
  ...{ type, status, reason, message },
})
const words = (...args: Parameters<typeof eventsOf>) =>
  eventsOf(...args).map(({ type, reason, action }) => `${type} ${reason} ${action}`)

const accepted = condition('Accepted', 'True', 'Accepted')
const programmed = condition('Programmed', 'True', 'Programmed')
const serves = condition('Serving', 'True', 'Serving')
const fails = condition('Serving', 'False', 'AllMembersDown', 'No member answers.')

test('an object that works gets one event, when its nodes have it', () => {
  const pending = [accepted, condition('Programmed', 'Unknown', 'Pending')]
  expect(words([], pending)).toEqual([])
  expect(words(pending, [accepted, programmed, serves])).toEqual(['Normal Programmed ProgramLoadBalancer'])
  expect(words([accepted, programmed, serves], [accepted, programmed, serves])).toEqual([])
})

test('that nobody answers is told once, and that somebody does again', () => {
  expect(words([programmed], [programmed, fails])).toEqual(['Warning AllMembersDown ServeClients'])
  expect(words([programmed, fails], [programmed, fails])).toEqual([])
  expect(words([programmed, fails], [programmed, serves])).toEqual(['Normal Serving ServeClients'])
  expect(words([programmed], [programmed, serves])).toEqual([])
})

test('a refusal is told with its reason, and again with another', () => {
  const refused = condition('Accepted', 'False', 'PoolNotFound', 'spec.addresses[0].pool: none of that name')
  const other = { ...refused, message: 'spec.addresses[1].pool: none of that name' }
  expect(eventsOf([], [refused])).toEqual([
    { type: 'Warning', reason: 'PoolNotFound', action: 'AcceptLoadBalancer', note: refused.message },
  ])
  expect(words([refused], [refused])).toEqual([])
  expect(words([refused], [other])).toEqual(['Warning PoolNotFound AcceptLoadBalancer'])
  expect(words([refused], [accepted])).toEqual([])
  expect(words([], [refused, condition('Programmed', 'False', 'PoolNotFound', 'the same')])).toHaveLength(1)
})
