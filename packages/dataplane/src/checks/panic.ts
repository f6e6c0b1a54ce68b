import type { NodeMember, NodePool } from '@spout/model'

type PoolMembers = Pick<NodePool, 'members' | 'panicThreshold'>

/**
 * Which members take new connections, given who is down. Members of weight 0 take none and do not count.
 *
 * - While an ordinary member is up, backup members rest.
 * - With every ordinary member down, the backup members that are up serve: that they answer shows that the checks work.
 * - Below `panicThreshold` percent of ordinary members up, health is ignored and every ordinary member serves: a mass
 *   failure is rather the check's fault, and sending everything to the few that are left would kill those too.
 *
 * The same rule as `effectiveSlots` of `@spout/plan`, which the L4 data plane uses (a property test compares the two).
 *
 * @param down ids of members that are down
 * @returns ids of members that take new connections
 */
export function effectiveMembers(pool: PoolMembers, down: ReadonlySet<string>): ReadonlySet<string> {
  const carrying = pool.members.filter((member): member is NodeMember => member !== null && member.weight > 0)
  const ordinary = carrying.filter((member) => !member.backup)
  const ordinaryUp = ordinary.filter((member) => !down.has(member.id))
  const backupsUp = carrying.filter((member) => member.backup && !down.has(member.id))
  if (ordinaryUp.length === 0 && backupsUp.length > 0) return idsOf(backupsUp)
  const panic = 100 * ordinaryUp.length < pool.panicThreshold * ordinary.length
  return idsOf(panic ? ordinary : ordinaryUp)
}

/**
 * Ids of members that shall get no new connections: those that health, the panic threshold or the backup rule keep out.
 * Applying it to its own result changes nothing.
 */
export function effectiveDown(pool: PoolMembers, down: ReadonlySet<string>): ReadonlySet<string> {
  const effective = effectiveMembers(pool, down)
  return idsOf(
    pool.members.filter(
      (member): member is NodeMember =>
        member !== null && (member.weight > 0 ? !effective.has(member.id) : down.has(member.id)),
    ),
  )
}

const idsOf = (members: readonly NodeMember[]): ReadonlySet<string> => new Set(members.map((member) => member.id))
