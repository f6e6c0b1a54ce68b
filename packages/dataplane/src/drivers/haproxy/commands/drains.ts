import type { Clock } from '@spout/runtime'
import type { PlacedBackend, PlacedEntry } from '../rendering/content.ts'
import type { Command } from './command.ts'

interface Drain {
  readonly backend: number
  readonly server: string
  readonly untilMs: number
  /** Whether the server is deleted when it has no connections; otherwise it stays with weight 0. */
  readonly isLeaving: boolean
}

const SERVER_GONE = new Set(['No such server.', 'No such backend.'])

/** Servers that get no new connections and drain until a deadline. */
export class Drains {
  readonly #drainMs: number
  readonly #clock: Clock
  readonly #drains = new Map<string, Drain>()
  /** Deadlines of servers whose pool has its own. */
  readonly #drainMsOf = new Map<string, number>()
  /** The servers of backends for which `keep` has nothing to do, by slot. */
  readonly #kept = new Map<number, PlacedBackend['servers']>()

  constructor(drainMs: number, clock: Clock) {
    this.#drainMs = drainMs
    this.#clock = clock
  }

  /** Counts drains that are not over. */
  get size(): number {
    return this.#drains.values().reduce((sum, { untilMs }) => (untilMs === Number.POSITIVE_INFINITY ? sum : sum + 1), 0)
  }

  /** Milliseconds until the first deadline: 0 if one has passed, infinity if nothing drains. */
  get endsInMs(): number {
    const now = this.#clock.monotonicMs()
    return this.#drains
      .values()
      .reduce((least, { untilMs }) => Math.min(least, Math.max(0, untilMs - now)), Number.POSITIVE_INFINITY)
  }

  /** A new process began with these entries. Nothing drains in it yet. */
  restart(placed: readonly PlacedEntry[]): void {
    this.#drains.clear()
    this.#kept.clear()
    this.#drainMsOf.clear()
    for (const { backends } of placed)
      for (const { slot, servers } of backends)
        for (const { name, drainMs } of servers)
          if (drainMs !== undefined) this.#drainMsOf.set(keyOf(slot, name), drainMs)
  }

  /**
   * Records which drains begin and end with these commands.
   * @returns the refusals, except those because a server still has connections
   */
  follow(commands: readonly Command[], refusals: readonly (string | null)[]): readonly (string | null)[] {
    return commands.map((command, index) => {
      const refusal = refusals[index] ?? null
      if (command.do === 'shutdown-sessions') this.#over(keyOf(command.backend, command.server))
      if (command.do !== 'del-server') return refusal
      const { backend, server } = command
      const key = keyOf(backend, server)
      this.#kept.delete(backend)
      if (refusal === null || SERVER_GONE.has(refusal)) {
        this.#drains.delete(key)
        this.#drainMsOf.delete(key)
      } else if (!this.#drains.get(key)?.isLeaving) this.#begin(key, { backend, server, isLeaving: true })
      return null
    })
  }

  /** These servers are wanted, so they are not deleted. Servers of weight 0 keep their connections for a while. */
  keep({ backends }: PlacedEntry): void {
    for (const { slot: backend, servers } of backends) {
      if (this.#kept.get(backend) === servers) continue
      this.#kept.set(backend, servers)
      for (const { name: server, weight, drainMs } of servers) {
        const key = keyOf(backend, server)
        if (drainMs === undefined) this.#drainMsOf.delete(key)
        else this.#drainMsOf.set(key, drainMs)
        const known = this.#drains.get(key)
        if (weight > 0) this.#drains.delete(key)
        else if (known === undefined || known.isLeaving) this.#begin(key, { backend, server, isLeaving: false })
      }
    }
  }

  /**
   * The commands to try now: deletions, and at the deadline the end of remaining connections first. Connections that
   * became idle since their server was stopped are closed when it is stopped again. The process does that after the
   * commands, so the next deletion finds them gone.
   * @param returnsClients whether rules of a backend send clients back to their server. They would do so between these
   *   two commands, in which the process serves requests. Idle connections of such a backend end by `pool-purge-delay`.
   */
  due(returnsClients: (backend: number) => boolean): readonly Command[] {
    const now = this.#clock.monotonicMs()
    return [...this.#drains.values()].flatMap(({ backend, server, untilMs, isLeaving }): readonly Command[] => [
      ...(now < untilMs ? [] : [{ do: 'shutdown-sessions', backend, server } as const]),
      ...(isLeaving && !returnsClients(backend)
        ? ([
            { do: 'set-drain', backend, server },
            { do: 'set-ready', backend, server, ready: false },
          ] as const)
        : []),
      ...(isLeaving ? [{ do: 'del-server', backend, server } as const] : []),
    ])
  }

  #begin(key: string, drain: Omit<Drain, 'untilMs'>): void {
    const untilMs = this.#clock.monotonicMs() + (this.#drainMsOf.get(key) ?? this.#drainMs)
    this.#drains.set(key, { ...drain, untilMs })
  }

  /** A server of weight 0 gets no new connections, so its drain ends once. */
  #over(key: string): void {
    const drain = this.#drains.get(key)
    if (drain !== undefined && !drain.isLeaving) this.#drains.set(key, { ...drain, untilMs: Number.POSITIVE_INFINITY })
  }
}

const keyOf = (backend: number, server: string): string => `${backend}/${server}`
