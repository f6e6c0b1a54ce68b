import type { Command } from './command.ts'
import { MAPS, type PlacedEntry, type ProxyContent } from './content.ts'

/** The commands of one entry, in an order that breaks no traffic. */
export interface Changes {
  /** New and returning servers, and weights. Nothing is removed yet. */
  readonly raise: readonly Command[]
  /** Frontends switch to their backends. */
  readonly turn: readonly Command[]
  /** Servers get no new connections, and are deleted if they have none. */
  readonly lower: readonly Command[]
}

/**
 * Plans the commands from `have` to `want`, for the slots that the entry had (`before`) or has (`want`). The cost
 * depends on the entry and not on the process. No difference gives no commands. Pure.
 */
export function planChanges(have: ProxyContent, before: PlacedEntry, want: PlacedEntry): Changes {
  const raise: Command[] = []
  const turn: Command[] = []
  const lower: Command[] = []

  for (const { slot: backend, servers } of want.backends) {
    const present = have.backends.get(backend)
    const wanted = new Set<string>()
    for (const server of servers) {
      wanted.add(server.name)
      const state = present?.get(server.name)
      if (state === undefined) {
        raise.push({ do: 'add-server', backend, server })
        if (server.ready) raise.push({ do: 'set-ready', backend, server: server.name, ready: true })
        continue
      }
      if (state.weight !== server.weight)
        raise.push({ do: 'set-weight', backend, server: server.name, weight: server.weight })
      if (state.ready !== server.ready)
        (server.ready ? raise : lower).push({ do: 'set-ready', backend, server: server.name, ready: server.ready })
      if (state.ready && server.reset) lower.push({ do: 'shutdown-sessions', backend, server: server.name })
    }
    for (const name of present?.keys() ?? []) if (!wanted.has(name)) lower.push(...removal(have, backend, name))
  }

  for (const { slot: frontend, values } of want.frontends) {
    const present = have.frontends.get(frontend) ?? {}
    for (const map of MAPS) {
      const value = values[map]
      if (value === present[map]) continue
      if (value === undefined) turn.push({ do: 'del-map', map, frontend })
      else turn.push({ do: present[map] === undefined ? 'add-map' : 'set-map', map, frontend, value })
    }
  }

  const frontends = new Set(want.frontends.map(({ slot }) => slot))
  for (const { slot: frontend } of before.frontends) {
    if (frontends.has(frontend)) continue
    for (const map of MAPS)
      if (have.frontends.get(frontend)?.[map] !== undefined) turn.push({ do: 'del-map', map, frontend })
  }
  const backends = new Set(want.backends.map(({ slot }) => slot))
  for (const { slot: backend } of before.backends) {
    if (backends.has(backend)) continue
    for (const name of have.backends.get(backend)?.keys() ?? []) lower.push(...removal(have, backend, name))
  }
  return { raise, turn, lower }
}

/**
 * Stops new connections at once. The deletion succeeds if the server has no connections; otherwise the sweep retries
 * it.
 */
const removal = (have: ProxyContent, backend: number, server: string): readonly Command[] => [
  ...(have.backends.get(backend)?.get(server)?.ready
    ? [{ do: 'set-ready', backend, server, ready: false } as const]
    : []),
  { do: 'del-server', backend, server },
]

/** Whether the changes are more than servers that still drain. */
export const disturbs = ({ raise, turn, lower }: Changes): boolean =>
  raise.length > 0 || turn.length > 0 || lower.some((command) => command.do === 'set-ready')
