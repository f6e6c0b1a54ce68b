import { type Member, member, parseAs, pool } from '@spout/model'
import { atOnce } from '@spout/runtime'
import { z } from 'zod'
import { memberDraft } from '../drafts/load-balancer-draft.ts'
import { Parts } from '../drafts/parts.ts'
import { merged, mergeOf } from '../operations/merge-change.ts'
import { type Route, route } from '../operations/route.ts'
import { POOLS, partOf, putPart, withoutPrefix } from './load-balancer-parts.ts'

const tag = 'load-balancers'
const root = '/load-balancers/:id/pools/:part/members'

/** Members are replaced as a whole set, or changed one by one. Either way a change is atomic. */
export const loadBalancerMemberRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: root,
    tag,
    summary: 'Replace all members of a pool',
    access: 'member',
    body: z.strictObject({ members: z.array(memberDraft).max(10_000) }),
    takesDocument: true,
    answer: { status: 200, schema: pool },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      const changed = await putPart(POOLS, context, call, function* (current) {
        const known = partOf(current.pools, call.params.part, 'Pool')
        const members = yield* new Parts(current, now).members(call.body.members, known.members, 'members')
        return { ...known, members }
      })
      return partOf(changed.pools, call.params.part, 'Pool')
    },
  }),
  route({
    method: 'PATCH',
    path: `${root}/:member`,
    tag,
    summary: 'Change a member; absent fields stay',
    access: 'member',
    body: mergeOf(memberDraft),
    answer: { status: 200, schema: member },
    previews: true,
    handle: async (context, call) => {
      const now = context.clock.now().toISOString()
      const memberOf = (members: readonly Member[]) => partOf(members, call.params.member, 'Member')
      let at = 0
      try {
        const changed = await putPart(POOLS, context, call, (current) => {
          const known = partOf(current.pools, call.params.part, 'Pool')
          const stored = memberOf(known.members)
          at = known.members.indexOf(stored)
          const wanted = parseAs(memberDraft, { ...merged(stored, call.body), id: stored.id })
          const [made = stored] = atOnce(new Parts(current, now).members([wanted], [stored], 'members'))
          return { ...known, members: known.members.with(at, made) }
        })
        return memberOf(partOf(changed.pools, call.params.part, 'Pool').members)
      } catch (error) {
        throw withoutPrefix(error, `members[${at}].`)
      }
    },
  }),
]
