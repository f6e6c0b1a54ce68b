import { collectionPath, isNotFound, KubeError, type Resource, type Transport } from '@spout/kube'
import { type Clock, type Logger, retry } from '@spout/runtime'

export interface WhenReadableOptions {
  readonly transport: Transport
  /** Name for people, such as `Ingress`. */
  readonly api: string
  readonly resources: readonly Resource[]
  /** Called once, when all can be listed. */
  readonly begin: () => void
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_MS = 10_000

/**
 * Calls `begin` once the API server has these kinds and lets us list them. They may be installed, or allowed, at any
 * time, so it asks again until then.
 */
export class WhenReadable {
  readonly #options: WhenReadableOptions
  readonly #stopping = new AbortController()
  #begun = false
  #isUnreadable = false
  #looking: Promise<unknown> | null = null

  constructor(options: WhenReadableOptions) {
    this.#options = options
  }

  get begun(): boolean {
    return this.#begun
  }

  /** Whether the API server has said that something is missing or not allowed. */
  get isUnreadable(): boolean {
    return this.#isUnreadable
  }

  start(): void {
    this.#looking ??= this.#begin()
  }

  /** `begin` is not called after this. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#looking
  }

  async #begin(): Promise<void> {
    const { transport, api, resources, begin, clock, log } = this.#options
    const { signal } = this.#stopping
    let told: string | null = null
    const look = async () => {
      const reason = await whyUnreadable(transport, resources, signal)
      if (reason !== null && reason !== told)
        log.info({ event: 'api-left-alone', api, reason }, 'this API cannot be read: its objects are left alone')
      told = reason
      this.#isUnreadable = reason !== null
      return reason === null ? ('done' as const) : ('again' as const)
    }
    const onFailure = ({ message }: Error) =>
      log.debug(
        { event: 'api-unknown', api, reason: message },
        'the API server did not say whether this API can be read; will try again',
      )
    await retry(look, { clock, signal, firstPauseMs: LOOK_MS, longestPauseMs: LOOK_MS, onFailure })
    if (signal.aborted) return
    this.#begun = true
    begin()
    log.info({ event: 'api-balanced', api }, 'this API can be read: its objects are balanced')
  }
}

/** @returns why a kind cannot be listed; null when all can. @throws Error when the API server does not answer */
async function whyUnreadable(
  transport: Transport,
  resources: readonly Resource[],
  signal: AbortSignal,
): Promise<string | null> {
  for (const resource of resources)
    try {
      await transport.request({ method: 'GET', path: collectionPath(resource), query: { limit: 1 }, signal })
    } catch (error) {
      if (isNotFound(error)) return `${resource.kind} of ${resource.apiVersion} is not installed`
      if (error instanceof KubeError && error.status === 403) return `RBAC does not let us list ${resource.plural}`
      throw error
    }
  return null
}
