import { isDeepStrictEqual } from 'node:util'
import { Refused } from '@spout/client/native-api'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import { inWordsOf } from './field-words.ts'
import { type Brought, type ConfigObject, type Handler, isReady, READY, type Verdict } from './handler.ts'

/** What is different about each kind that is an object of the native API. */
export interface DocumentKind<Spec> {
  readonly kind: string
  /** Such as `/address-pools`. */
  readonly path: string
  /** For people: `address pool`. */
  readonly what: string
  /** The fields of the native API that the spec decides, canonical. @throws SpoutError, Refused */
  readonly wanted: (spec: Spec, api: NativeObjects) => Promise<Readonly<Record<string, unknown>>>
  /** The fields that the API can change; left out, all of them. */
  readonly changeable?: readonly string[]
  /** What is changed of one that shall go and is in use, so that it goes in the end. */
  readonly whileLeaving?: Readonly<Record<string, unknown>>
  /** Names of fields by those of the native API, for what people read. */
  readonly fieldNames: Readonly<Record<string, string>>
  /** The stored object with what the API filled in by itself as if it had been wanted so; left out: as it is. */
  readonly settled?: (
    document: ApiObject,
    wanted: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>
  /** Counts, and verdicts besides `Ready`. */
  readonly facts: (document: ApiObject) => Promise<Brought>
  /** Who uses it, for people, when the API says that it is in use; null when nobody can tell. */
  readonly usersOf?: (document: ApiObject) => Promise<string | null>
}

/**
 * Keeps one object of the native API per object of a kind. The description says whose it is, so that a restart or a lost
 * answer makes no second one, and what people made by hand is never touched.
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

  get kind(): string {
    return this.#kind.kind
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
    const [wanted, before] = await Promise.all([
      this.#kind.wanted(object.spec as Spec, this.#api),
      this.#api.find(path, name),
    ])
    if (before === null) {
      const made = await this.#api.call<ApiObject>('POST', path, { name, description: this.#mark(name), ...wanted })
      return this.#told(made, isReady('Created', `The ${what} is as it is wanted.`))
    }
    this.#refuseForeign(before)
    const stored = settled(before, wanted)
    const different = Object.keys(wanted).filter((field) => !isDeepStrictEqual(wanted[field], stored[field]))
    if (different.length === 0) return this.#told(before, isReady('Created', `The ${what} is as it is wanted.`))
    const { changeable = different } = this.#kind
    const change = Object.fromEntries(
      different.filter((field) => changeable.includes(field)).map((field) => [field, wanted[field]]),
    )
    const changed = await this.#change(before, change)
    const fixed = different.filter((field) => !changeable.includes(field))
    if (fixed.length === 0) return this.#told(changed, isReady('Created', `The ${what} is as it is wanted.`))
    const fields = fixed.map((field) => this.#kind.fieldNames[field] ?? field).join(', ')
    return this.#told(changed, {
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

  async #told(document: ApiObject, ready: Verdict): Promise<Brought> {
    const { fields, verdicts } = await this.#kind.facts(document)
    return { fields: { id: document.id, ...fields }, verdicts: [ready, ...verdicts] }
  }
}
