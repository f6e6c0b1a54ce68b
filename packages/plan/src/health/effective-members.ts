import type { NodeMember, NodePool } from '@spout/model'

type Carrier = Pick<NodeMember, 'id' | 'weight' | 'backup'>
type PoolMembers = Pick<NodePool, 'panicThreshold'> & { readonly members: readonly (Carrier | null)[] }

/**
 * Decides which members take new connections. Members of weight 0 take none and do not count.
 *
 * - While an ordinary member is up, backup members are idle.
 * - If every ordinary member is down, the backup members that are up serve. Their answers prove that the checks work.
 * - If less than `panicThreshold` percent of the ordinary members are up, health is ignored and every ordinary member
 *   serves: a mass failure is more likely a fault of the check, and the few members that are left could not bear all
 *   connections.
 *
 * Both data planes follow this rule: the proxy applies it to its servers, `effectiveSlots` to a slot table.
 *
 * @param down ids of members that are down
 * @returns ids of members that take new connections
 */
export function effectiveMembers(pool: PoolMembers, down: ReadonlySet<string>): ReadonlySet<string> {
  const carrying = pool.members.filter((member): member is Carrier => member !== null && member.weight > 0)
  const ordinary = carrying.filter((member) => !member.backup)
  const ordinaryUp = ordinary.filter((member) => !down.has(member.id))
  const backupsUp = carrying.filter((member) => member.backup && !down.has(member.id))
  if (ordinaryUp.length === 0 && backupsUp.length > 0) return idsOf(backupsUp)
  return idsOf(isBelow(pool.panicThreshold, ordinaryUp.length, ordinary.length) ? ordinary : ordinaryUp)
}

/** Whether health is ignored because too many ordinary members are down at once. */
export function isPanicking(pool: PoolMembers, down: ReadonlySet<string>): boolean {
  const carrying = pool.members.filter((member): member is Carrier => member !== null && member.weight > 0)
  const ordinary = carrying.filter((member) => !member.backup)
  const ordinaryUp = ordinary.filter((member) => !down.has(member.id))
  if (ordinaryUp.length === 0 && carrying.some((member) => member.backup && !down.has(member.id))) return false
  return isBelow(pool.panicThreshold, ordinaryUp.length, ordinary.length)
}

const isBelow = (thresholdPercent: number, up: number, all: number): boolean => 100 * up < thresholdPercent * all

/**
 * Ids of members that must get no new connections because of health, the panic threshold or the backup rule. It is
 * idempotent.
 */
export function effectiveDown(pool: PoolMembers, down: ReadonlySet<string>): ReadonlySet<string> {
  const effective = effectiveMembers(pool, down)
  return idsOf(
    pool.members.filter(
      (member): member is Carrier =>
        member !== null && (member.weight > 0 ? !effective.has(member.id) : down.has(member.id)),
    ),
  )
}

const idsOf = (members: readonly Carrier[]): ReadonlySet<string> => new Set(members.map((member) => member.id))
