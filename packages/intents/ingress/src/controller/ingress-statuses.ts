import { keyOf, type Refusal, shownAddresses, uidOf, withPage } from '@spout/connector'
import { type Ingress, UnseenWrites } from '@spout/kube'
import type { Clock } from '@spout/runtime'
import type { Cluster } from './cluster.ts'

/** Writes addresses to statuses where they differ, and reports new problems as events. */
export class IngressStatuses {
  readonly #cluster: Cluster
  /** The addresses that were written, joined to one text. */
  readonly #written: UnseenWrites<string>
  /** The problems that have been reported, by UID. */
  readonly #told = new Map<string, ReadonlySet<string>>()
  #writes = 0

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster
    this.#written = new UnseenWrites(clock)
  }

  /** Status writes since the start. */
  get writes(): number {
    return this.#writes
  }

  /** @param page where the web page shows its load balancer, for the event; null for none */
  async show(seen: Ingress, addresses: readonly string[], page: string | null = null): Promise<void> {
    const ingress = this.#cluster.ingress(keyOf(seen))
    if (ingress === undefined || uidOf(ingress) !== uidOf(seen)) return
    const text = addresses.join(' ')
    if ((this.#written.of(ingress) ?? textOf(ingress)) === text) return
    const version = await this.#cluster.writeAddresses(ingress, addresses)
    this.#writes++
    if (version === null) return
    this.#written.add(ingress, text, version)
    if (text !== '')
      this.#cluster.tell(ingress, {
        type: 'Normal',
        reason: 'Programmed',
        action: 'BalanceIngress',
        note: withPage(`${addresses.join(', ')}: the nodes that announce it serve it.`, page),
      })
  }

  /**
   * Reports each problem that was not reported before, once.
   * @param page where the web page shows its load balancer; null for none
   */
  tell(ingress: Ingress, problems: readonly Refusal[], page: string | null = null): void {
    const before = this.#told.get(uidOf(ingress))
    const now = new Set<string>()
    for (const { reason, field, message } of problems) {
      const note = withPage(`${field}: ${message}`.slice(0, LONGEST_NOTE), page)
      now.add(`${reason} ${note}`)
      if (before?.has(`${reason} ${note}`) === true) continue
      this.#cluster.tell(ingress, { type: 'Warning', reason, action: 'BalanceIngress', note })
    }
    if (now.size === 0) this.#told.delete(uidOf(ingress))
    else this.#told.set(uidOf(ingress), now)
  }

  /** Called when the Ingress is gone, or belongs to another controller. */
  forget(uid: string): void {
    this.#written.forget(uid)
    this.#told.delete(uid)
  }
}

const LONGEST_NOTE = 1000
const textOf = (ingress: Ingress): string => shownAddresses(ingress).join(' ')
