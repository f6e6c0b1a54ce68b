import type { ChangedObject, ModelView } from '@spout/admission/contract'
import type { FiguresReader, Kind, StatusReader } from '@spout/model'
import { type Clock, pause } from '@spout/runtime'
import type { Turn } from '../../http/long-answer.ts'
import { Changes } from './changes.ts'
import { type EventSource, eventsText } from './event-text.ts'
import { type ReaderView, viewKey } from './reader-view.ts'

/** Readers are told at most once in this time. */
const ROUND_MS = 100
/** A batch takes some 20 us for each reader. With very many readers the rounds are longer. */
const ROUND_MS_OF_READER = 0.5
const LONGEST_ROUND_MS = 1000
/** The first change of a burst waits this long for its companions: a commit is followed by what nodes report of it. */
const GATHER_MS = 20
/** How many readers are told before others have a turn. */
const READERS_AT_ONCE = 20

/** Changes that readers are told of together. The texts are made once for all readers with the same view. */
export class Batch {
  readonly changes: Changes
  readonly #source: EventSource
  readonly #texts = new Map<string, Buffer>()

  constructor(changes: Changes, source: EventSource) {
    this.changes = changes
    this.#source = source
  }

  /** UTF-8; empty when nothing of it concerns the reader. */
  textFor(reader: ReaderView): Buffer {
    const key = viewKey(reader)
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const text = Buffer.from(eventsText(this.changes, reader, this.#source))
    this.#texts.set(key, text)
    return text
  }

  /** Both together, for a reader that was too slow for the earlier one. */
  plus(later: Batch): Batch {
    return new Batch(this.changes.plus(later.changes), this.#source)
  }
}

export interface LiveChangesOptions extends EventSource {
  readonly view: ModelView
  readonly status: Pick<StatusReader, 'onChange'>
  readonly figures: Pick<FiguresReader, 'onRates'>
  /** The kinds of which readers are told by id, beside load balancers and nodes. */
  readonly kinds: ReadonlySet<Kind>
  readonly clock: Clock
  readonly turn: Turn
}

type Deliver = (batch: Batch) => void

/** Collects what changes in the model and in the status, and tells all open pages together. Without pages it follows nothing. */
export class LiveChanges {
  readonly #options: LiveChangesOptions
  readonly #readers = new Set<Deliver>()
  #changes = new Changes()
  #unfollow: (() => void) | null = null
  #isTelling = false
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(options: LiveChangesOptions) {
    this.#options = options
  }

  /** @param deliver called with each batch; it must not throw. @returns a function that ends it */
  follow(deliver: Deliver): () => void {
    this.#readers.add(deliver)
    this.#unfollow ??= this.#listen()
    return () => {
      this.#readers.delete(deliver)
      if (this.#readers.size > 0) return
      this.#unfollow?.()
      this.#unfollow = null
      this.#changes = new Changes()
    }
  }

  #listen(): () => void {
    const { view, status, figures } = this.#options
    const ends = [
      view.onChange((changed) => {
        for (const one of changed) this.#changed(one)
        this.#tellSoon()
      }),
      status.onChange((kind, id) => {
        // A deleted one is reported gone when its document goes.
        if (kind === 'node') this.#changes.nodes.add(id)
        else if (view.get('loadBalancer', id) !== null) this.#changes.loadBalancers.add(id)
        this.#tellSoon()
      }),
      figures.onRates((id) => {
        this.#changes.rates.add(id)
        this.#tellSoon()
      }),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  #changed(changed: ChangedObject): void {
    const { view, kinds } = this.#options
    const { kind, id, goneFrom } = changed
    if (kind === 'loadBalancer') {
      if (view.get(kind, id) === null) this.#changes.gone.set(id, goneFrom)
      else this.#changes.loadBalancers.add(id)
      return
    }
    if (kind === 'node') this.#changes.nodes.add(id)
    // Rows show its name.
    if (kind === 'project')
      for (const one of view.list('loadBalancer', { projectId: id })) this.#changes.loadBalancers.add(one.id)
    if (kinds.has(kind)) this.#changes.other(changed)
  }

  #tellSoon(): void {
    if (this.#isTelling || this.#changes.isEmpty) return
    this.#isTelling = true
    void this.#tell()
  }

  async #tell(): Promise<void> {
    const { clock, turn } = this.#options
    while (!this.#changes.isEmpty) {
      const roundMs = Math.min(Math.max(ROUND_MS, this.#readers.size * ROUND_MS_OF_READER), LONGEST_ROUND_MS)
      await pause(clock, Math.max(GATHER_MS, this.#toldMs + roundMs - clock.monotonicMs()))
      this.#toldMs = clock.monotonicMs()
      const batch = new Batch(this.#changes, this.#options)
      this.#changes = new Changes()
      let told = 0
      for (const deliver of [...this.#readers]) {
        if (this.#readers.has(deliver)) deliver(batch)
        if (++told % READERS_AT_ONCE === 0) await turn()
      }
    }
    this.#isTelling = false
  }
}
