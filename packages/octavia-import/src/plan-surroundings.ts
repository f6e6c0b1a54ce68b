import type { Attributes } from '@spout/octavia-client'
import { differing } from './compare.ts'
import type { Destination } from './destination.ts'
import { type Found, nameOf } from './inventory.ts'
import { KIND_ROWS, type ProfileKind } from './kinds.ts'
import { rulesOf, type Surroundings } from './read-surroundings.ts'
import type { PlanOptions, Request, Step } from './step.ts'
import { dashed, type Note, NotTaken, type Translated } from './translate.ts'
import { floatingOf, groupOf, isForListeners, meaningOf, ruleOf } from './translate-network.ts'
import { hasLimits, type OfferKind, offerOf, profileIdOf, profileOf, quotaOf } from './translate-offers.ts'

/** The load balancer whose port a floating IP is bound to. */
export interface PortOwner {
  readonly id: string
  readonly title: string
  /** Its project in Spout; null when the load balancer is not taken over. */
  readonly projectId: string | null
  /** The port in the other cloud. */
  readonly theirPort: unknown
  /** The port in Spout; null while the load balancer does not exist there. */
  readonly ourPort: unknown
}

interface WantedObject extends Translated {
  readonly needs?: readonly string[]
  /** The object that Spout has already. Absent: the one with the same id, if any. */
  readonly ours?: Attributes | undefined
  /** Finds further differences to the object that Spout has. */
  readonly differences?: (ours: Attributes) => readonly Note[]
  readonly request: Request
}

/**
 * Plans the objects outside of load balancers. Floating IPs come after their load balancer. All others come first,
 * since load balancers name them.
 */
export class SurroundingsPlan {
  readonly steps: readonly Step[]
  /** Includes what the steps will create. */
  readonly destination: Destination
  readonly #source: Surroundings
  readonly #ours: ReadonlyMap<string, Attributes>
  readonly #options: PlanOptions
  /** Titles of objects that will not exist in Spout, by kind and id. */
  readonly #lost = new Map<string, string>()

  constructor(source: Surroundings, target: Surroundings, options: PlanOptions) {
    this.#source = source
    this.#ours = new Map(target.found.map((each) => [keyOf(each), each.attributes]))
    this.#options = options
    this.steps = source.found.flatMap((found) => this.#stepsOf(found))
    const there = (kind: Found['kind']): readonly Found[] => [
      ...target.found.filter((each) => each.kind === kind),
      ...source.found.filter(
        (each) => each.kind === kind && this.steps.some(({ id, result }) => id === each.id && result !== 'refused'),
      ),
    ]
    const { destination } = options
    this.destination = {
      ...destination,
      flavorIds: new Set([...destination.flavorIds, ...there('flavor').map(({ id }) => id)]),
      zoneNames: new Set([...destination.zoneNames, ...there('availability_zone').map(({ id }) => id)]),
      groupProjects: new Map([...destination.groupProjects, ...this.#plannedGroups()]),
    }
  }

  /** Ids of the steps that a load balancer waits for. */
  needsOf({ flavor_id: flavor, availability_zone: zone, vip_sg_ids: groups }: Attributes): readonly string[] {
    const named = new Set([flavor, zone, ...((groups ?? []) as readonly unknown[])])
    return this.steps.filter(({ id, result }) => result === 'create' && named.has(id)).map(({ id }) => id)
  }

  /** Steps of the floating IPs that are bound to a load balancer's port. */
  floatingSteps(owner: PortOwner): readonly Step[] {
    return this.#source.found
      .filter(({ kind, attributes }) => kind === 'floatingip' && attributes['port_id'] === owner.theirPort)
      .map((found) => this.#step(found, nameOf(found), owner.id, () => this.#floating(found, owner)))
  }

  #stepsOf(found: Found): readonly Step[] {
    const { kind, id, attributes } = found
    // The administrator named a replacement in Spout, so nothing is created.
    if (this.#options.replacements.has(found.parentId ?? id)) return []
    if (kind === 'floatingip' || (kind === 'quota' && !hasLimits(found))) return []
    if (kind === 'security_group_rule' && !isForListeners(attributes)) return []
    const title = kind === 'quota' ? `${KIND_ROWS.quota.word} ${dashed(id)}` : nameOf(found)
    return [this.#step(found, title, null, () => this.#wanted(found))]
  }

  #wanted(found: Found): WantedObject {
    const options = this.#options
    if (isA(found, 'flavorprofile') || isA(found, 'availability_zone_profile'))
      return created(found, profileOf(found, options))
    if (isA(found, 'flavor') || isA(found, 'availability_zone')) return this.#offer(found)
    if (found.kind === 'quota') return this.#quota(found)
    if (found.kind === 'security_group') return this.#group(found)
    return this.#rule(found)
  }

  #offer(found: Found & { readonly kind: OfferKind }): WantedObject {
    const { field, id } = profileIdOf(found, this.#options)
    const kind: ProfileKind = found.kind === 'flavor' ? 'flavorprofile' : 'availability_zone_profile'
    this.#require(field, kind, id)
    const name = found.attributes['name']
    for (const [key, ours] of this.#ours)
      if (key.startsWith(`${found.kind}/`) && key !== keyOf(found) && ours['name'] === name)
        throw new NotTaken(
          'name',
          `Spout has another ${KIND_ROWS[found.kind].word} ${String(name)}: rename it, or take it (--map ${found.id}=${String(ours['id'])})`,
        )
    return { ...created(found, offerOf(found, this.#options)), needs: [id] }
  }

  /** @throws NotTaken for a profile that Spout does not have and that no step creates */
  #require(field: string, kind: ProfileKind, id: string): void {
    const planned = this.#source.found.some((each) => each.kind === kind && each.id === id)
    const lost = this.#lost.get(`${kind}/${id}`)
    if (lost !== undefined) throw new NotTaken(field, `${lost} is not taken over`)
    if (planned || this.#ours.has(`${kind}/${id}`)) return
    throw new NotTaken(field, `profile ${id} is not in Spout, and the other cloud does not show it to this account`)
  }

  #quota(found: Found): WantedObject {
    const { projectId, body, notes } = quotaOf(found, this.#options)
    const own = this.#ours.get(`quota/${projectId}`)
    const { usualLimits } = this.#options.destination
    const asUsual = differing(Object.keys(body), body, usualLimits).length === 0
    return {
      ...{ body, notes, ours: own ?? (asUsual ? usualLimits : undefined) },
      request: { path: `/quotas/${projectId}`, root: 'quota', body, method: 'update' },
    }
  }

  #group(found: Found): WantedObject {
    const theirs = new Set(rulesOf(found.attributes).map(meaningOf))
    return {
      ...created(found, groupOf(found, this.#options), 'network'),
      differences: (ours) =>
        rulesOf(ours)
          .filter((rule) => !theirs.has(meaningOf(rule)))
          .map(({ id }) => ({ field: 'security_group_rules', text: `has another one in Spout: ${String(id)}` })),
    }
  }

  #rule(found: Found): WantedObject {
    const groupId = found.parentId ?? ''
    const lost = this.#lost.get(`security_group/${groupId}`)
    if (lost !== undefined) throw new NotTaken('security_group_id', `${lost} is not taken over`)
    const rules = rulesOf(this.#ours.get(`security_group/${groupId}`) ?? {})
    const wanted = meaningOf(found.attributes)
    // A rule of the same meaning counts as present, even with another id.
    const ours = rules.find((rule) => meaningOf(rule) === wanted) ?? rules.find(({ id }) => id === found.id)
    const same = ours !== undefined && meaningOf(ours) === wanted
    const object = created(found, ruleOf(found), 'network')
    return { ...object, ours: same ? object.body : ours, needs: [groupId] }
  }

  #floating(found: Found, { id, title, projectId, theirPort, ourPort }: PortOwner): WantedObject {
    if (projectId === null) throw new NotTaken('port_id', `${title} is not taken over`)
    const { body, notes } = floatingOf(found, projectId, this.#options)
    const other = ourPort !== null && ourPort !== undefined
    const object = created(found, { body: other ? { ...body, port_id: ourPort } : body, notes }, 'network')
    return {
      ...object,
      needs: [id],
      request: { ...object.request, ...(!other && theirPort !== null && { portOf: id }) },
    }
  }

  #step(found: Found, title: string, loadBalancerId: string | null, wanted: () => WantedObject): Step {
    const step = { kind: found.kind, id: found.id, title, loadBalancerId }
    try {
      const { body, notes, request, needs = [], differences, ...rest } = wanted()
      const ours = 'ours' in rest ? rest.ours : this.#ours.get(keyOf(found))
      if (ours !== undefined) {
        const differ = [...differing(Object.keys(body), body, ours), ...(differences?.(ours) ?? [])]
        return { ...step, needs, result: differ.length > 0 ? 'differs' : 'equal', notes: differ, request: null }
      }
      const fault = this.#options.newTrial().add(found.kind, request.body, null)
      if (fault !== null) throw new NotTaken('refused', fault)
      return { ...step, needs, result: 'create', notes, request }
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error
      this.#lost.set(keyOf(found), title)
      return { ...step, needs: [], result: 'refused', notes: [error.note], request: null }
    }
  }

  /** Security groups that will be in Spout, by id, with their projects. */
  *#plannedGroups(): Generator<[string, string]> {
    for (const { kind, id, request } of this.steps)
      if (kind === 'security_group' && request !== null) yield [id, String(request.body['project_id'])]
  }
}

const keyOf = ({ kind, id }: Pick<Found, 'kind' | 'id'>): string => `${kind}/${id}`

const isA = <K extends Found['kind']>(found: Found, kind: K): found is Found & { readonly kind: K } =>
  found.kind === kind

/** A zone has no id; its name identifies it. */
const created = (found: Found, translated: Translated, api?: 'network'): WantedObject => ({
  ...translated,
  request: {
    path: `/${KIND_ROWS[found.kind].plural}`,
    root: found.kind,
    body: { ...(found.kind !== 'availability_zone' && { id: found.id }), ...translated.body },
    ...(api && { api }),
  },
})
