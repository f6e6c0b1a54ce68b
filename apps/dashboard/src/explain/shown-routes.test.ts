import type { RouteDecision } from '@spout/plan/requests'
import { expect, it } from 'vitest'
import { shownRoutes } from './shown-routes.ts'

const decisions = (count: number, taken: number): readonly RouteDecision<number>[] =>
  Array.from({ length: count }, (_, at) => ({ route: at, verdict: { is: at === taken ? 'takes' : 'disabled' } }))

it('shows a short list whole, and of a long one its beginning and what matches', () => {
  expect(shownRoutes(decisions(40, 3))).toMatchObject({ left: 0, shown: { length: 40 } })
  const { shown, left } = shownRoutes(decisions(10_000, 7_000))
  expect(shown.at(-1)).toMatchObject({ at: 7_000, decision: { verdict: { is: 'takes' } } })
  expect([shown.length, left]).toEqual([21, 9_979])
})
