import { isDeepStrictEqual } from 'node:util'
import { Refused } from '@spout/client/native-api'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import { inWordsOf } from './field-words.ts'
import { type Brought, type ConditionState, type ConfigObject, type Handler, isReady, READY } from './handler.ts'

/** What differs between the kinds whose objects become objects of the native API. */
export interface DocumentKind<Spec> {
  readonly kind: string
  /** The path of the collection, such as `/address-pools`. */
  readonly path: string
  /** The kind's name in messages, such as `address pool`. */
  readonly what: string
  /** Computes the fields of the native API from a spec, in canonical form. @throws SpoutError, Refused */
  readonly wanted: (spec: Spec, api: NativeObjects) => Promise<Readonly<Record<string, unknown>>>
  /** The fields that the API can change. Left out: all of them. */
  readonly changeable?: readonly string[]
  /** A change to make when the object must be deleted but is in use, so that its use ends. */
  readonly whileLeaving?: Readonly<Record<string, unknown>>
  /** The spec's names of fields of the native API, for messages. Absent fields have the same name in both. */
  readonly fieldNames: Readonly<Record<string, string>>
  /**
   * Adapts the stored object for the comparison with what is wanted: values that the API assigned do not count. Left
   * out: all count.
   */
  readonly settled?: (
    document: ApiObject,
    wanted: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>
  /** The status fields of the kind, and its conditions other than `Ready`. */
  readonly facts: (document: ApiObject, spec: Spec) => Promise<Brought>
  /** Who uses an object that the API reports as in use, as a text for messages; null when unknown. */
  readonly usersOf?: (document: ApiObject) => Promise<string | null>
}

/**
 * Keeps one object of the native API for each object of a kind. The description names the owner. So a restart or a lost
 * answer creates no second one, and objects that people made are never touched.
 */
export class DocumentHandler<Spec extends object> implements Handler {
  readonly #api: NativeObjects
  readonly #kind: DocumentKind<Spec>
  readonly #cluster: string

  constructor(api: NativeObjects, kind: DocumentKind<Spec>, cluster: string) {
    this.#api = api
    this.#kind = kind
    this.#cluster = cluster
  }

  async bring(object: ConfigObject): Promise<Brought> {
    try {
      return await this.#bring(object)
    } catch (error) {
      throw inWordsOf(this.#kind.fieldNames, error)
    }
  }

  async #bring(object: ConfigObject): Promise<Brought> {
    const { path, what, settled = (document: ApiObject) => document } = this.#kind
    const { name } = object.metadata
    const spec = object.spec as Spec
    const [wanted, before] = await Promise.all([this.#kind.wanted(spec, this.#api), this.#api.find(path, name)])
    if (before === null) {
      const made = await this.#api.call<ApiObject>('POST', path, { name, description: this.#mark(name), ...wanted })
      return this.#told(made, spec, isReady('Created', `The ${what} is as requested.`))
    }
    this.#refuseForeign(before)
    const stored = settled(before, wanted)
    const different = Object.keys(wanted).filter((field) => !isDeepStrictEqual(wanted[field], stored[field]))
    if (different.length === 0) return this.#told(before, spec, isReady('Created', `The ${what} is as requested.`))
    const { changeable = different } = this.#kind
    const change = Object.fromEntries(
      different.filter((field) => changeable.includes(field)).map((field) => [field, wanted[field]]),
    )
    const changed = await this.#change(before, change)
    const fixed = different.filter((field) => !changeable.includes(field))
    if (fixed.length === 0) return this.#told(changed, spec, isReady('Created', `The ${what} is as requested.`))
    const fields = fixed.map((field) => this.#kind.fieldNames[field] ?? field).join(', ')
    return this.#told(changed, spec, {
      type: READY,
      status: 'False',
      reason: 'CannotChange',
      message: `The ${what} that was made from this object differs in ${fields}, which cannot be changed: delete the object and make it again.`,
    })
  }

  #change(document: ApiObject, change: Readonly<Record<string, unknown>>): Promise<ApiObject> | ApiObject {
    const differs = Object.entries(change).some(([field, value]) => !isDeepStrictEqual(document[field], value))
    return differs ? this.#api.call<ApiObject>('PATCH', `${this.#kind.path}/${document.id}`, change) : document
  }

  async release({ metadata: { name } }: ConfigObject): Promise<void> {
    const { path } = this.#kind
    const found = await this.#api.find(path, name)
    if (found === null || found.description !== this.#mark(name)) return
    try {
      await this.#api.call('DELETE', `${path}/${found.id}`)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.code === 'NotFound') return
      if (error.code === 'InUse') await this.#change(found, this.#kind.whileLeaving ?? {})
      const users = error.code === 'InUse' ? ((await this.#kind.usersOf?.(found)) ?? null) : null
      throw users === null ? error : new Refused(error.code, `${error.message}: ${users}`)
    }
  }

  #mark(name: string): string {
    return `kubernetes:${this.#cluster}/${this.#kind.kind}/${name}`
  }

  #refuseForeign({ name, description }: ApiObject): void {
    if (description === this.#mark(name)) return
    const whose = description.startsWith('kubernetes:') ? `of ${description}` : 'made by hand'
    throw new Refused('NameTaken', `Another ${this.#kind.what} named ${name} exists, ${whose}: it is left as it is.`)
  }

  async #told(document: ApiObject, spec: Spec, ready: ConditionState): Promise<Brought> {
    const { fields, conditions } = await this.#kind.facts(document, spec)
    return { fields: { id: document.id, ...fields }, conditions: [ready, ...conditions] }
  }
}
