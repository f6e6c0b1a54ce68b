import type { Endpoint, MemberChange } from '@spout/admission/contract'
import type { LoadBalancer, Member } from '@spout/model'
import type { Pieces } from '@spout/runtime'
import { blankMember } from '../resources/member.ts'
import type { OctaviaMember } from '../terms/octavia-resources.ts'
import { notFound, OctaviaFault, validationFailure } from '../wire/fault.ts'
import type { Edit } from '../wire/field.ts'
import type { Stamp } from '../wire/wire-type.ts'

/**
 * A request's change to the members of a pool. Pure, so that it can be repeated on a newer version. Neither the
 * protocols nor the facts of a graph depend on its members, so the graph is not converted.
 */
export type MemberEdit = (current: Pick<LoadBalancer, 'pools'>) => MemberChange

/** Like `MemberEdit`, but with pauses, for many members. */
export type LongMemberEdit = (current: Pick<LoadBalancer, 'pools'>) => Pieces<MemberChange>

/** @throws OctaviaFault 404 when it was deleted during the request */
const membersOf = ({ pools }: Pick<LoadBalancer, 'pools'>, poolId: string): readonly Member[] => {
  const pool = pools.find(({ id }) => id === poolId)
  if (pool === undefined) throw notFound('Pool', poolId)
  return pool.members
}

export const addMember =
  (poolId: string, { model }: OctaviaMember): MemberEdit =>
  () => ({ poolId, put: [model], remove: [] })

export const changeMember =
  (poolId: string, id: string, edit: Edit<OctaviaMember>, now: string): MemberEdit =>
  (current) => {
    const model = membersOf(current, poolId).find((member) => member.id === id)
    if (model === undefined) throw notFound('Member', id)
    return { poolId, put: [{ ...edit({ model }).model, updatedAt: now }], remove: [] }
  }

export const removeMember =
  (poolId: string, id: string): MemberEdit =>
  (current) => ({ poolId, put: [], remove: membersOf(current, poolId).filter((member) => member.id === id) })

export interface MemberSet {
  /**
   * The wanted members, read like those of a creation. If a member with the same address and port exists, it is edited
   * instead.
   */
  readonly members: readonly Edit<OctaviaMember>[]
  readonly additiveOnly: boolean
}

/** Replaces all members of a pool. Members that do not change keep their place and their times. */
export const replaceMembers = (poolId: string, { members, additiveOnly }: MemberSet, stamp: Stamp): LongMemberEdit =>
  function* (current) {
    const present = membersOf(current, poolId)
    const wanted = yield* wantedByEndpoint(members, new Set(present.map(endpointOf)), stamp)
    const put: Member[] = []
    const remove: Member[] = []
    for (const member of present) {
      yield
      const edit = wanted.get(endpointOf(member))
      wanted.delete(endpointOf(member))
      if (edit !== undefined) put.push(...editedMember(member, edit, stamp.now))
      else if (!additiveOnly) remove.push(member)
    }
    for (const edit of wanted.values()) {
      yield
      put.push(edit(blankMember(stamp)).model)
    }
    return { poolId, put, remove }
  }

/** @throws OctaviaFault for members that share an address and port */
export function refuseDoubledMembers(members: readonly Member[]): void {
  const seen = new Set<string>()
  for (const member of members) {
    if (seen.has(endpointOf(member))) throw doubledMember(member)
    seen.add(endpointOf(member))
  }
}

function* wantedByEndpoint(
  members: readonly Edit<OctaviaMember>[],
  present: ReadonlySet<string>,
  { now }: Stamp,
): Pieces<Map<string, Edit<OctaviaMember>>> {
  const nowhere = blankMember({ newId: () => '', now, byAdministrator: false })
  const wanted = new Map<string, Edit<OctaviaMember>>()
  for (const edit of members) {
    yield
    const { model } = edit(nowhere)
    const endpoint = endpointOf(model)
    if (wanted.has(endpoint))
      throw present.has(endpoint)
        ? validationFailure('Member must be updated only once in the same request.')
        : doubledMember(model)
    wanted.set(endpoint, edit)
  }
  return wanted
}

/** @returns nothing when the edit changes nothing */
function editedMember(member: Member, edit: Edit<OctaviaMember>, now: string): readonly Member[] {
  const { model } = edit({ model: member })
  return sameFields(model, member) ? [] : [{ ...model, updatedAt: now }]
}

/**
 * Compares values as texts. That works because both are made from the same blank, so nested fields have the same order.
 */
const sameFields = (a: Member, b: Member): boolean =>
  Object.entries(a).every(([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(b, name)))

const endpointOf = ({ address, port }: Endpoint): string => `${address} ${port}`

const doubledMember = ({ address, port }: Endpoint): OctaviaFault =>
  new OctaviaFault(409, `Another member on this pool is already using ip ${address} on protocol_port ${port}`)
