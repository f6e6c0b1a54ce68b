import { Listeners } from '@spout/runtime'
import type { KindReflector } from './kind-reflector.ts'

/**
 * What the clusters of all intents do alike: their reflectors start and stop together, and they pass on what has
 * changed. @typeParam Change what has changed, in the words of the intent
 */
export abstract class ReflectedCluster<Change> {
  readonly #listeners = new Listeners<Change>()

  /** The reflectors that are running. Those that are shared with other intents are not among them. */
  abstract readonly reflectors: readonly KindReflector[]

  start(): void {
    for (const { reflector } of this.reflectors) reflector.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors.map(({ reflector }) => reflector.close()))
  }

  /** An operator confirms that the missing objects are deleted, so the deletion guards stop holding them. */
  confirm(): void {
    for (const { reflector } of this.reflectors) reflector.confirm()
  }

  /** Whether the first lists are complete. */
  get ready(): boolean {
    return this.reflectors.every(({ reflector }) => reflector.hasSynced)
  }

  onChange(listener: (change: Change) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Tells the listeners. */
  protected changed(change: Change): void {
    this.#listeners.tell(change)
  }
}
