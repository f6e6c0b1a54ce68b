import { randomUUID } from 'node:crypto'
import { type Member, sameJson } from '@spout/model'
import type { Pieces } from '@spout/runtime'
import type { MemberDraft } from './load-balancer-draft.ts'
import { unknownPart } from './stamped.ts'

/**
 * The members of a pool as drafts ask for them. Existing ones keep their ids and times. It pauses after each.
 * @param path of the list in the request
 * @param now RFC 3339
 * @throws SpoutError ReferenceNotFound for an id that no member has
 */
export function* membersOf(
  drafts: readonly MemberDraft[],
  current: readonly Member[],
  path: string,
  now: string,
): Pieces<Member[]> {
  const known = new KnownMembers(current)
  const members: Member[] = []
  for (const [at, draft] of drafts.entries()) {
    const before = known.of(draft, at)
    if (draft.id !== undefined && before === undefined) throw unknownPart(`${path}[${at}].id`, 'Member', draft.id)
    members.push(memberOf(draft, before, now))
    yield
  }
  return members
}

/** Field by field: there may be thousands, and to copy all fields but some takes several times as long. */
function memberOf(draft: MemberDraft, known: Member | undefined, now: string): Member {
  const made: Member = {
    id: known?.id ?? randomUUID(),
    name: draft.name,
    description: draft.description,
    createdAt: known?.createdAt ?? now,
    updatedAt: known?.updatedAt ?? null,
    tags: draft.tags,
    enabled: draft.enabled,
    address: draft.address,
    port: draft.port,
    subnetId: draft.subnetId,
    weight: draft.weight,
    backup: draft.backup,
    monitorAddress: draft.monitorAddress,
    monitorPort: draft.monitorPort,
  }
  if (known === undefined) return made
  if (sameJson(known, made)) return known
  made.updatedAt = now
  return made
}

/** The members that a pool has. Their indexes are made when they are first needed. */
class KnownMembers {
  readonly #members: readonly Member[]
  #byId: ReadonlyMap<string, Member> | null = null
  #byEndpoint: ReadonlyMap<string, Member> | null = null

  constructor(members: readonly Member[]) {
    this.#members = members
  }

  /**
   * The member that a draft means: by its id, else by address and port. The same place of the list is tried first,
   * since most drafts keep the order.
   */
  of({ id, address, port }: Pick<MemberDraft, 'id' | 'address' | 'port'>, at: number): Member | undefined {
    const same = this.#members[at]
    if (id !== undefined) {
      if (same?.id === id) return same
      this.#byId ??= new Map(this.#members.map((known) => [known.id, known]))
      return this.#byId.get(id)
    }
    if (same?.port === port && same.address === address) return same
    this.#byEndpoint ??= new Map(this.#members.map((known) => [`${known.address} ${known.port}`, known]))
    return this.#byEndpoint.get(`${address} ${port}`)
  }
}
