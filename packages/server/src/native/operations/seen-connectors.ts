import type { Principal } from '@spout/admission/contract'
import type { Clock } from '@spout/runtime'

/** A connector that called this control plane, as it named itself last. */
export interface SeenConnector {
  readonly projectId: string | null
  readonly userName: string
  readonly version: string
  /** RFC 3339. */
  readonly lastSeenAt: string
}

/** How a connector names itself (RFC 9110, section 10.1.5). Tenants run it, so the text is theirs. */
const NAMED = /^spout-connector\/(\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,40})?)$/
/** Those that called longest ago are forgotten beyond this. */
const MOST = 1000

/** The connectors that called this process since its start, one for each user and project. */
export class SeenConnectors {
  readonly #clock: Clock
  /** Who called last is last. */
  readonly #seen = new Map<string, SeenConnector>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param userAgent the header; of other programs it is ignored */
  note({ userId, userName, projectId }: Principal, userAgent: string | undefined): void {
    const version = NAMED.exec(userAgent ?? '')?.[1]
    if (version === undefined) return
    const key = `${projectId} ${userId}`
    this.#seen.delete(key)
    this.#seen.set(key, { projectId, userName, version, lastSeenAt: this.#clock.now().toISOString() })
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > MOST && oldest !== undefined) this.#seen.delete(oldest)
  }

  all(): readonly SeenConnector[] {
    return [...this.#seen.values()]
  }
}
