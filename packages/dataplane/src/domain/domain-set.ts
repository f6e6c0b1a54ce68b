import type { DomainEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import type { Log, NativeHelper } from '@spout/sys'
import type { Applied } from '../contracts/driver.ts'
import { DomainBuilder } from './domain-builder.ts'
import { checkDomainConfig, type DomainConfig } from './domain-config.ts'
import { type DomainLayout, layOutDomain } from './domain-layout.ts'
import { domainNames, existingDomains } from './domain-names.ts'
import { LeftoversGrace } from './leftovers-grace.ts'
import { type Run, run } from './run.ts'
import { prepareRoot } from './steering-rules.ts'

export interface DomainSetOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** Runs `ip` and `sysctl`; replaced in tests. */
  readonly run?: Run
  /** How long domains without an entry are kept after `adopt`. Default 30 s. */
  readonly leftoversGraceMs?: number
}

/**
 * The tenant networks of one node. Each has its own namespace with uplink, segment, addresses, sysctls and a guard.
 * Compares the system with the entries before every change, so that a restarted agent changes nothing.
 */
export class DomainSet {
  readonly #config: DomainConfig
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #run: Run
  readonly #builder: DomainBuilder
  readonly #known = new Map<string, DomainLayout>()
  readonly #grace: LeftoversGrace
  /** Domains of this agent without an entry. The first `apply` after the grace period removes them. */
  #leftovers = new Set<number>()
  #rootChanges = 0
  readonly #mutex = new Mutex()

  constructor(options: DomainSetOptions) {
    this.#config = checkDomainConfig(options.config)
    this.#helper = options.helper
    this.#log = options.log
    this.#run = options.run ?? run
    this.#builder = new DomainBuilder(this.#config, this.#helper, this.#run)
    this.#grace = new LeftoversGrace(options)
  }

  /** Counts changes to the system since the start. */
  get counters(): { readonly changes: number } {
    return { changes: this.#rootChanges + this.#builder.changes }
  }

  /** Numbers of the existing domains. */
  *numbers(): Iterable<number> {
    for (const { number } of this.#known.values()) yield number
  }

  /** The name of a domain's namespace, as `ip netns` takes it. */
  namespace(number: number): string {
    return domainNames(this.#config, number).namespace
  }

  /** The path of a domain's namespace, as the native helper takes it. */
  netns(number: number): string {
    return domainNames(this.#config, number).netns
  }

  /**
   * Prepares the root namespace and takes over what an earlier process left. It does not touch complete domains and
   * completes the others. The first `apply` after the grace period removes domains without an entry.
   * @returns the numbers of the domains whose namespaces existed
   */
  async adopt(previous: readonly DomainEntry[]): Promise<readonly number[]> {
    this.#grace.begin()
    this.#rootChanges += await prepareRoot(this.#run, this.#helper, this.#config)
    const found = await existingDomains(this.#config)
    this.#leftovers = new Set(found)
    for (const entry of previous) await this.#put(entry)
    return found
  }

  /**
   * Creates and changes the domains of `put` and removes those of the keys in `remove`. A domain that fails is reported
   * and stops no other.
   */
  apply(
    changes: { readonly put: readonly DomainEntry[]; readonly remove: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly Applied[]> {
    return this.#mutex.run(async () => {
      const applied: Applied[] = []
      for (const key of changes.remove) {
        const known = this.#known.get(key)
        if (known !== undefined) applied.push(...(await this.#removed(key, known)))
      }
      for (const entry of changes.put) {
        signal.throwIfAborted()
        applied.push(await this.#put(entry))
      }
      if (this.#grace.isOver) await this.#removeLeftovers()
      return applied
    })
  }

  /**
   * Keys of domains whose namespace, interfaces or shares were lost. The next `apply` of their entries creates them
   * again.
   */
  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      const lost: string[] = []
      for (const [key, layout] of this.#known) if (!(await this.#builder.isWhole(layout))) lost.push(key)
      return lost
    })
  }

  async #put(entry: DomainEntry): Promise<Applied> {
    const { key } = entry
    try {
      const layout = layOutDomain(this.#config, entry)
      await this.#builder.make(layout, this.#known.get(key) ?? null)
      this.#known.set(key, layout)
      this.#leftovers.delete(entry.number)
      return { key, state: 'programmed', reason: null, message: null }
    } catch (error) {
      this.#leftovers.delete(entry.number)
      this.#log.warn({ key, error: String(error) }, 'the domain was not created')
      return { key, state: 'failed', reason: 'DomainFailed', message: messageOf(error) }
    }
  }

  async #removeLeftovers(): Promise<void> {
    for (const number of this.#leftovers) await this.#builder.tearDown(number)
    this.#leftovers.clear()
  }

  async #removed(key: string, { number }: DomainLayout): Promise<readonly Applied[]> {
    try {
      await this.#builder.tearDown(number)
      this.#known.delete(key)
      return []
    } catch (error) {
      return [{ key, state: 'failed', reason: 'DomainFailed', message: messageOf(error) }]
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
