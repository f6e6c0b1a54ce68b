import { type AddressedObject, uidOf } from '../objects.ts'
import type { Refusal } from '../refusal.ts'
import type { Tenancy, TenantObjects } from './tenancy.ts'

/** Called with an object that nobody balances, and the reason. */
export type TellUnowned = (object: AddressedObject, refusal: Refusal) => void

/** The UID and the reason as one text, to compare what was told about an object. */
const sayingOf = (object: AddressedObject, { reason }: Refusal): string => `${uidOf(object)} ${reason}`

/**
 * Tells users why nobody balances their object, when it belongs to no project: once for each object and reason. Objects
 * of foreign classes, and objects that are being deleted, need no load balancer and are skipped.
 */
export class UnownedObjects {
  readonly #tenancy: Tenancy
  readonly #objects: TenantObjects
  readonly #tell: TellUnowned
  /** What was told, by `namespace/name`, while the object is of no project. */
  readonly #told = new Map<string, string>()
  readonly #unsubscribe: () => void

  constructor(tenancy: Tenancy, objects: TenantObjects, tell: TellUnowned) {
    this.#tenancy = tenancy
    this.#objects = objects
    this.#tell = tell
    this.#unsubscribe = tenancy.onChange(null, (key) => this.#look(key))
  }

  close(): void {
    this.#unsubscribe()
  }

  #look(key: string): void {
    const assigned = this.#tenancy.assignmentOf(key)
    const found = this.#objects.get(key)
    if (assigned?.type !== 'nobody' || found === null || found.leaves) {
      this.#told.delete(key)
      return
    }
    const saying = sayingOf(found.object, assigned.refusal)
    if (this.#told.get(key) === saying) return
    this.#told.set(key, saying)
    this.#tell(found.object, assigned.refusal)
  }
}
