import { expect, it } from 'vitest'
import type { ExplainedMember } from '../api/explanation.ts'
import { memberShares } from './member-shares.ts'

const member = (name: string, weight: number, takesTraffic = true) =>
  ({ name, weight, takesTraffic }) as ExplainedMember
const shown = (members: readonly ExplainedMember[]) =>
  memberShares({ members }).map(({ member: { name }, percent }) => [name, percent])

it('members that take traffic share it by weight, and come first', () => {
  expect(shown([member('out', 4, false), member('b', 1), member('a', 3)])).toEqual([
    ['a', 75],
    ['b', 25],
    ['out', 0],
  ])
  expect(shown([member('out', 4, false)])).toEqual([['out', 0]])
})
