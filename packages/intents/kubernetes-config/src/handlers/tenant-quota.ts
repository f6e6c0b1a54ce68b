import { Refused } from '@spout/client/native-api'
import type { TenantQuotaSpec } from '@spout/custom-resources'
import type { ClassQuota, QuotaResource } from '@spout/model'
import type { NativeObjects } from '../spout/native-objects.ts'
import { type Brought, type ConfigObject, type Handler, isReady, notReady } from './handler.ts'

type Limits = Readonly<Partial<Record<QuotaResource, number>>>
interface Quota {
  readonly limits: Limits
  readonly used: Limits
  readonly classes: readonly ClassQuota[]
}
/** The limit of each load balancer class, by its id; null: the class has no limit of its own. */
type ClassLimits = ReadonlyMap<string, number | null>
interface KnownClass {
  readonly id: string
  readonly limit?: number
}

/**
 * Sets limits of projects. A quota has no field for an owner, so nothing in it says what it was before. Its previous
 * limits are therefore noted in the object's status before anything is changed. They are restored when the object, or a
 * limit in it, is removed.
 */
export class TenantQuotaHandler implements Handler {
  readonly #api: NativeObjects
  readonly #all: () => Iterable<ConfigObject>

  /** @param all returns all TenantQuotas of the cluster */
  constructor(api: NativeObjects, all: () => Iterable<ConfigObject>) {
    this.#api = api
    this.#all = all
  }

  async bring(object: ConfigObject): Promise<Brought> {
    const { project, limits = {}, classes = {} } = object.spec as TenantQuotaSpec
    const projectId = await this.#api.idOf('/projects', 'project', project, 'project')
    const older = this.#olderOf(object, project)
    if (older !== null)
      throw new Refused('ProjectTaken', `TenantQuota ${older} sets the limits of project ${project} already.`)
    const wanted = await this.#idsOf(classes)
    const path = `/projects/${projectId}/quota`
    const before = await this.#api.call<Quota>('GET', path)
    const [known, knownClasses] = [previousOf(object), previousClassesOf(object)]
    const missing = Object.keys(limits).filter((name) => !Object.hasOwn(known, name)) as QuotaResource[]
    const missingClasses = [...wanted.keys()].filter((id) => !knownClasses.has(id))
    if (missing.length > 0 || missingClasses.length > 0) {
      const previous = { ...known, ...pick(before.limits, missing) }
      const noted = new Map([...knownClasses, ...missingClasses.map((id) => [id, limitOf(before, id)] as const)])
      const condition = notReady(
        'Preparing',
        'The previous limits are being noted in the status before they are changed.',
      )
      return { fields: fieldsOf(projectId, before, previous, noted), conditions: [condition], again: true }
    }
    const dropped = Object.keys(known).filter((name) => !Object.hasOwn(limits, name)) as QuotaResource[]
    const change = Object.fromEntries(
      Object.entries({ ...limits, ...pick(known, dropped) }).filter(
        ([name, limit]) => limit !== undefined && before.limits[name as QuotaResource] !== limit,
      ),
    )
    const restored = await this.#existing([...knownClasses].filter(([id]) => !wanted.has(id)))
    const classChange = [...wanted, ...restored].filter(([id, limit]) => limitOf(before, id) !== limit)
    const isChanged = Object.keys(change).length + classChange.length > 0
    const body = { limits: change, classes: Object.fromEntries(classChange) }
    const after = isChanged ? await this.#api.call<Quota>('PUT', path, body) : before
    const previous = pick(known, Object.keys(limits) as QuotaResource[])
    const noted = new Map([...knownClasses].filter(([id]) => wanted.has(id)))
    return {
      fields: fieldsOf(projectId, after, previous, noted),
      conditions: [isReady('Set', 'The limits are as requested.')],
    }
  }

  async release(object: ConfigObject): Promise<void> {
    const limits = previousOf(object)
    const classes = Object.fromEntries(await this.#existing([...previousClassesOf(object)]))
    if (Object.keys({ ...limits, ...classes }).length === 0) return
    const found = await this.#api.find('/projects', (object.spec as TenantQuotaSpec).project)
    if (found !== null) await this.#api.call('PUT', `/projects/${found.id}/quota`, { limits, classes })
  }

  /** @throws Refused ReferenceNotFound */
  async #idsOf(classes: Readonly<Record<string, number>>): Promise<ClassLimits> {
    const ids = Object.entries(classes).map(async ([name, limit]) => {
      const id = await this.#api.idOf(CLASSES, 'load balancer class', name, `classes.${name}`)
      return [id, limit] as const
    })
    return new Map(await Promise.all(ids))
  }

  /** Leaves out classes that were deleted: their limits were deleted with them. */
  async #existing(limits: readonly (readonly [string, number | null])[]): Promise<typeof limits> {
    if (limits.length === 0) return limits
    const ids = new Set((await this.#api.list(CLASSES)).map(({ id }) => id))
    return limits.filter(([id]) => ids.has(id))
  }

  /** The name of an older TenantQuota of the same project; null when this one is the oldest and so counts. */
  #olderOf({ metadata: own }: ConfigObject, project: string): string | null {
    for (const { metadata, spec } of this.#all()) {
      if (metadata.name === own.name || (spec as TenantQuotaSpec).project !== project) continue
      const [theirs = '', ours = ''] = [metadata.creationTimestamp, own.creationTimestamp]
      if (theirs < ours || (theirs === ours && metadata.name < own.name)) return metadata.name
    }
    return null
  }
}

const CLASSES = '/load-balancer-classes'

const limitOf = ({ classes }: Quota, id: string): number | null => classes.find((each) => each.id === id)?.limit ?? null

/** The status fields for a quota. */
const fieldsOf = (projectId: string, quota: Quota, previous: Limits, previousClasses: ClassLimits) => ({
  ...{ projectId, limits: quota.limits, used: quota.used, previous },
  classes: quota.classes.map(({ name, limit, used }) => ({ name, ...(limit !== null && { limit }), used })),
  previousClasses: [...previousClasses].map(([id, limit]) => ({ id, ...(limit !== null && { limit }) })),
})

const previousClassesOf = ({ status }: ConfigObject): ClassLimits =>
  new Map(((status?.['previousClasses'] ?? []) as readonly KnownClass[]).map(({ id, limit }) => [id, limit ?? null]))

const previousOf = ({ status }: ConfigObject): Limits => (status?.['previous'] ?? {}) as Limits

const pick = (limits: Limits, names: readonly QuotaResource[]): Limits =>
  Object.fromEntries(names.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]])))
