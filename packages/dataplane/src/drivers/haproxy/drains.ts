import type { Clock } from '@spout/runtime'
import type { Command } from './command.ts'
import type { PlacedEntry } from './content.ts'

interface Drain {
  readonly backend: number
  readonly server: string
  readonly untilMs: number
}

const SERVER_GONE = new Set(['No such server.', 'No such backend.'])

/** Servers that are out of the rotation and wait for their last connection to end. */
export class Drains {
  readonly #drainMs: number
  readonly #clock: Clock
  readonly #drains = new Map<string, Drain>()

  constructor(drainMs: number, clock: Clock) {
    this.#drainMs = drainMs
    this.#clock = clock
  }

  get size(): number {
    return this.#drains.size
  }

  clear(): void {
    this.#drains.clear()
  }

  /**
   * Learns from commands what begins and what ends to drain.
   * @returns the refusals, without those that only say that somebody is still connected
   */
  follow(commands: readonly Command[], refusals: readonly (string | null)[]): readonly (string | null)[] {
    return commands.map((command, index) => {
      const refusal = refusals[index] ?? null
      if (command.do !== 'del-server') return refusal
      const key = keyOf(command.backend, command.server)
      if (refusal === null || SERVER_GONE.has(refusal)) this.#drains.delete(key)
      else if (!this.#drains.has(key)) {
        const untilMs = this.#clock.monotonicMs() + this.#drainMs
        this.#drains.set(key, { backend: command.backend, server: command.server, untilMs })
      }
      return null
    })
  }

  /** These servers are wanted (again). */
  keep({ backends }: PlacedEntry): void {
    if (this.#drains.size === 0) return
    for (const { slot, servers } of backends) for (const { name } of servers) this.#drains.delete(keyOf(slot, name))
  }

  /** What to try now: deleting; where the time is up, ending the connections that are left first. */
  due(): readonly Command[] {
    const now = this.#clock.monotonicMs()
    return [...this.#drains.values()].flatMap(({ backend, server, untilMs }): readonly Command[] => [
      ...(now < untilMs ? [] : [{ do: 'shutdown-sessions', backend, server } as const]),
      { do: 'del-server', backend, server },
    ])
  }
}

const keyOf = (backend: number, server: string): string => `${backend}/${server}`
