import type { ExplainedMember, ExplainedPool } from '../api/explanation.ts'

export interface MemberShare {
  readonly member: ExplainedMember
  /** Of the pool's requests, in percent; 0 for members that get none. */
  readonly percent: number
}

/** Which members get the requests of a pool: by weight, those that take traffic alone. Those that do come first. */
export function memberShares({ members }: Pick<ExplainedPool, 'members'>): readonly MemberShare[] {
  const all = members.reduce((sum, { takesTraffic, weight }) => sum + (takesTraffic ? weight : 0), 0)
  return members
    .map((member) => ({ member, percent: member.takesTraffic && all > 0 ? (100 * member.weight) / all : 0 }))
    .sort((a, b) => b.percent - a.percent)
}
