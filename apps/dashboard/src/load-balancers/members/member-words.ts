import type { ExplainedMember } from '../../api/explanation.ts'

/** How a member is. One is unknown from when it comes until its first check is over. */
export const MEMBER_WORDS: Readonly<Record<ExplainedMember['health'], string>> = {
  up: 'up',
  down: 'down',
  unknown: 'not checked yet',
  unmonitored: 'not checked',
}
