import { SpoutError } from '@spout/model'
import { LOCAL_ADDRESS } from './login-source.ts'

/** The user and the source of a request for work. */
export interface Asker {
  readonly user: string
  /** The result of `sourceOf`. */
  readonly source: string
}

export interface FairTurnsOptions {
  readonly maxRunning: number
  readonly maxWaiting: number
  readonly maxWaitingOfSource: number
  readonly maxWaitingOfUser: number
}

interface Waiting {
  readonly asker: Asker
  readonly go: () => void
  readonly refuse: (error: SpoutError) => void
}

/**
 * Runs expensive work, a few pieces at a time. Sources take turns, and so do the users of a source: a caller with one
 * request waits for one of every other caller, not for all that one of them queued. When the queue is full, the source
 * with most in it loses its newest.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  /** By source, then by user. A source that was served goes to the end. */
  readonly #lines = new Map<string, Map<string, Waiting[]>>()
  #running = 0
  #waiting = 0

  constructor(options: FairTurnsOptions) {
    this.#options = options
  }

  /** @throws SpoutError Unavailable when too many wait, and what `work` throws */
  async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#options.maxRunning) await this.#turn(asker)
    else this.#running++
    try {
      return await work()
    } finally {
      const next = this.#next()
      // The turn passes to the next in the queue, so that no new caller takes it first.
      if (next === null) this.#running--
      else next.go()
    }
  }

  #turn(asker: Asker): Promise<void> {
    const { maxWaiting, maxWaitingOfSource, maxWaitingOfUser } = this.#options
    const own = this.#ofSource(asker.source)
    const ofUser = this.#lines.get(asker.source)?.get(asker.user)?.length ?? 0
    if (ofUser >= maxWaitingOfUser || own >= maxWaitingOfSource) throw tooMany()
    if (this.#waiting >= maxWaiting && !this.#makeRoom(own + 1)) throw tooMany()
    return new Promise((resolve, reject) => {
      const users = this.#lines.get(asker.source) ?? new Map<string, Waiting[]>()
      this.#lines.set(asker.source, users)
      const line = users.get(asker.user) ?? []
      users.set(asker.user, line)
      line.push({ asker, go: resolve, refuse: reject })
      this.#waiting++
    })
  }

  /** Removes the next from the queue; callers on the machine itself first. */
  #next(): Waiting | null {
    const source = this.#lines.has(LOCAL_ADDRESS) ? LOCAL_ADDRESS : firstOf(this.#lines)
    if (source === null) return null
    const users = this.#lines.get(source) ?? new Map<string, Waiting[]>()
    const user = firstOf(users) ?? ''
    const line = users.get(user) ?? []
    const next = line.shift() ?? null
    this.#waiting--
    users.delete(user)
    if (line.length > 0) users.set(user, line)
    this.#lines.delete(source)
    if (users.size > 0) this.#lines.set(source, users)
    return next
  }

  /** Refuses the newest of the longest queue if it has more than `atLeast` waiting. */
  #makeRoom(atLeast: number): boolean {
    let longest: Waiting[] | null = null
    let source = ''
    let most = atLeast
    for (const [each, users] of this.#lines) {
      const count = this.#ofSource(each)
      if (count <= most || each === LOCAL_ADDRESS) continue
      most = count
      source = each
      longest = [...users.values()].reduce((one, other) => (other.length > one.length ? other : one))
    }
    const last = longest?.pop()
    if (longest === null || last === undefined) return false
    this.#waiting--
    if (longest.length === 0) this.#lines.get(source)?.delete(last.asker.user)
    last.refuse(tooMany())
    return true
  }

  #ofSource(source: string): number {
    let count = 0
    for (const line of this.#lines.get(source)?.values() ?? []) count += line.length
    return count
  }
}

const firstOf = (map: ReadonlyMap<string, unknown>): string | null => map.keys().next().value ?? null
const tooMany = (): SpoutError => new SpoutError('Unavailable', { what: 'Login', reason: 'too many at the same time' })
