import { Refused } from '@spout/client/native-api'
import type { TenantQuotaSpec } from '@spout/custom-resources'
import type { QuotaResource } from '@spout/model'
import type { NativeObjects } from '../spout/native-objects.ts'
import { type Brought, type ConfigObject, type Handler, isReady, notReady } from './handler.ts'

type Limits = Readonly<Partial<Record<QuotaResource, number>>>
interface Quota {
  readonly limits: Limits
  readonly used: Limits
}

/**
 * Sets limits of projects. A quota has no field for an owner, so its previous limits are noted in the object's status
 * before anything is changed. They are restored when the object, or a limit in it, is removed.
 */
export class TenantQuotaHandler implements Handler {
  readonly #api: NativeObjects
  readonly #all: () => Iterable<ConfigObject>

  /** @param all all TenantQuotas */
  constructor(api: NativeObjects, all: () => Iterable<ConfigObject>) {
    this.#api = api
    this.#all = all
  }

  async bring(object: ConfigObject): Promise<Brought> {
    const { project, limits } = object.spec as TenantQuotaSpec
    const projectId = await this.#api.idOf('/projects', 'project', project, 'project')
    const older = this.#olderOf(object, project)
    if (older !== null)
      throw new Refused('ProjectTaken', `TenantQuota ${older} sets the limits of project ${project} already.`)
    const path = `/projects/${projectId}/quota`
    const before = await this.#call('GET', path)
    const known = previousOf(object)
    const missing = Object.keys(limits).filter((name) => !Object.hasOwn(known, name)) as QuotaResource[]
    if (missing.length > 0) {
      const previous = { ...known, ...pick(before.limits, missing) }
      const condition = notReady('Preparing', 'The previous limits are noted first.')
      return { fields: { projectId, previous, ...before }, conditions: [condition], again: true }
    }
    const dropped = Object.keys(known).filter((name) => !Object.hasOwn(limits, name)) as QuotaResource[]
    const change = Object.fromEntries(
      Object.entries({ ...limits, ...pick(known, dropped) }).filter(
        ([name, limit]) => limit !== undefined && before.limits[name as QuotaResource] !== limit,
      ),
    )
    const after = Object.keys(change).length === 0 ? before : await this.#call('PUT', path, { limits: change })
    const previous = pick(known, Object.keys(limits) as QuotaResource[])
    return {
      fields: { projectId, previous, ...after },
      conditions: [isReady('Set', 'The limits are as requested.')],
    }
  }

  async release(object: ConfigObject): Promise<void> {
    const previous = previousOf(object)
    if (Object.keys(previous).length === 0) return
    const found = await this.#api.find('/projects', (object.spec as TenantQuotaSpec).project)
    if (found !== null) await this.#api.call('PUT', `/projects/${found.id}/quota`, { limits: previous })
  }

  /** What the object's status has of it. The API may say more. */
  async #call(method: 'GET' | 'PUT', path: string, body?: object): Promise<Quota> {
    const { limits, used } = await this.#api.call<Quota>(method, path, body)
    return { limits, used }
  }

  /** The oldest of a project counts; of two of the same second, the first by name. */
  #olderOf({ metadata: own }: ConfigObject, project: string): string | null {
    for (const { metadata, spec } of this.#all()) {
      if (metadata.name === own.name || (spec as TenantQuotaSpec).project !== project) continue
      const [theirs = '', ours = ''] = [metadata.creationTimestamp, own.creationTimestamp]
      if (theirs < ours || (theirs === ours && metadata.name < own.name)) return metadata.name
    }
    return null
  }
}

const previousOf = ({ status }: ConfigObject): Limits => (status?.['previous'] ?? {}) as Limits

const pick = (limits: Limits, names: readonly QuotaResource[]): Limits =>
  Object.fromEntries(names.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]])))
