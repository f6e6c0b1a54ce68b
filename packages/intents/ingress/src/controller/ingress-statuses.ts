import { keyOf, type Refusal, shownAddresses, uidOf } from '@spout/connector'
import { type Ingress, isOlder } from '@spout/kube'
import type { Cluster } from './cluster.ts'

/** Writes addresses that differ from what is shown, and tells news by events. */
export class IngressStatuses {
  readonly #cluster: Cluster
  /** Versions that we wrote, by UID, until the cluster shows them: a lagging watch must not cause a second write. */
  readonly #written = new Map<string, { readonly version: string; readonly text: string }>()
  /** Problems that were told, by UID. */
  readonly #told = new Map<string, ReadonlySet<string>>()
  #writes = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Status writes since the start. */
  get writes(): number {
    return this.#writes
  }

  async show(seen: Ingress, addresses: readonly string[]): Promise<void> {
    const ingress = this.#cluster.ingress(keyOf(seen))
    if (ingress === undefined || uidOf(ingress) !== uidOf(seen)) return
    const text = addresses.join(' ')
    const written = this.#written.get(uidOf(ingress))
    if (written !== undefined && isOlder(ingress.metadata.resourceVersion ?? '', written.version)) {
      if (written.text === text) return
    } else {
      this.#written.delete(uidOf(ingress))
      if (textOf(ingress) === text) return
    }
    const version = await this.#cluster.writeAddresses(ingress, addresses)
    this.#writes++
    if (version === null) return
    this.#written.set(uidOf(ingress), { version, text })
    if (text !== '')
      this.#cluster.tell(ingress, {
        type: 'Normal',
        reason: 'Programmed',
        action: 'BalanceIngress',
        note: `${addresses.join(', ')}: the nodes that announce it have it.`,
      })
  }

  /** Tells problems that were not told before, once each. */
  tell(ingress: Ingress, problems: readonly Refusal[]): void {
    const before = this.#told.get(uidOf(ingress))
    const now = new Set<string>()
    for (const { reason, field, message } of problems) {
      const note = `${field}: ${message}`.slice(0, LONGEST_NOTE)
      now.add(`${reason} ${note}`)
      if (before?.has(`${reason} ${note}`) === true) continue
      this.#cluster.tell(ingress, { type: 'Warning', reason, action: 'BalanceIngress', note })
    }
    if (now.size === 0) this.#told.delete(uidOf(ingress))
    else this.#told.set(uidOf(ingress), now)
  }

  /** The Ingress is gone, or another controller's. */
  forget(uid: string): void {
    this.#written.delete(uid)
    this.#told.delete(uid)
  }
}

const LONGEST_NOTE = 1000
const textOf = (ingress: Ingress): string => shownAddresses(ingress).join(' ')
