import { planTlsChanges, storesOfMemberTls } from '../certificates/plan-tls-changes.ts'
import { isTlsCommand } from '../certificates/tls-command.ts'
import type { FrontendValues, PlacedEntry, PlacedRows, ProxyContent, ServerState } from '../rendering/content.ts'
import { VALUE_MAPS } from '../sections/maps.ts'
import { ROUTED } from '../sections/routed.ts'
import type { Command } from './command.ts'
import { rowChanges } from './row-changes.ts'

const NOT_KNOWN: ReadonlyMap<number, PlacedRows> = new Map()

/** The commands of one entry, in an order that breaks no traffic. */
export interface Changes {
  /** New and returning servers, and weights. Nothing is removed yet. */
  readonly raise: readonly Command[]
  /** Frontends turn to their backends and routes. Rows that lead nowhere any more are removed at last. */
  readonly turn: readonly Command[]
  /** Servers get no new connections, and are deleted if they have none. */
  readonly lower: readonly Command[]
}

/**
 * Plans the commands from `have` to `want`, for the slots that the entry had (`before`) or has (`want`). The cost
 * depends on the entry and not on the process. No difference gives no commands. Pure.
 * @param settled the rows that frontends are known to have, by slot
 */
export function planChanges(
  have: ProxyContent,
  before: PlacedEntry,
  want: PlacedEntry,
  settled: ReadonlyMap<number, PlacedRows> = NOT_KNOWN,
): Changes {
  // The process refuses servers that name a file which it does not have.
  const raise: Command[] = [...storesOfMemberTls(have.tls, want.backends)]
  const turn: Command[] = []
  const lower: Command[] = []
  for (const backend of want.backends) {
    const changes = backendChanges(have, backend)
    raise.push(...changes.raise)
    lower.push(...changes.lower)
  }
  const obsolete: Command[] = []
  for (const frontend of want.frontends) {
    const changes = frontendChanges(have, frontend, settled.get(frontend.slot))
    turn.push(...changes.turn)
    obsolete.push(...changes.obsolete)
  }

  const tls = planTlsChanges(have.tls, before.frontends, want.frontends)
  raise.push(...tls.raise)
  lower.push(...tls.lower)

  const frontends = new Set(want.frontends.map(({ slot }) => slot))
  for (const { slot: frontend } of before.frontends) {
    if (frontends.has(frontend)) continue
    obsolete.push(...rowChanges(have, frontend, undefined).remove)
    for (const map of VALUE_MAPS)
      if (have.frontends.get(frontend)?.[map] !== undefined) turn.push({ do: 'del-map', map, frontend })
  }
  turn.push(...obsolete)
  const backends = new Set(want.backends.map(({ slot }) => slot))
  for (const { slot: backend } of before.backends) {
    if (backends.has(backend)) continue
    for (const name of have.backends.get(backend)?.keys() ?? []) lower.push(...removal(have, backend, name))
  }
  return { raise, turn, lower }
}

const NO_CHANGES: Pick<Changes, 'raise' | 'lower'> = { raise: [], lower: [] }

/** From the servers that a backend has to those that it should have. */
function backendChanges(
  have: ProxyContent,
  { slot: backend, servers, tls }: PlacedEntry['backends'][number],
): Pick<Changes, 'raise' | 'lower'> {
  const present = have.backends.get(backend)
  if (holds(present, servers)) return NO_CHANGES
  const raise: Command[] = []
  const lower: Command[] = []
  const wanted = new Set<string>()
  for (const server of servers) {
    wanted.add(server.name)
    const state = present?.get(server.name)
    if (state === undefined) {
      raise.push({ do: 'add-server', backend, server, ...(tls === undefined ? {} : { tls }) })
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
  return { raise, lower }
}

/** Whether a backend has just these servers, as they should be. Most are, and that costs little for each. */
function holds(
  present: ReadonlyMap<string, ServerState> | undefined,
  servers: PlacedEntry['backends'][number]['servers'],
): boolean {
  if (present?.size !== servers.length) return false
  return servers.every(({ name, weight, ready, reset }) => {
    const state = present.get(name)
    return state?.weight === weight && state.ready === ready && !(ready && reset)
  })
}

/** From the values and rows of a frontend to those that it should have. `obsolete` comes after all that turns. */
function frontendChanges(
  have: ProxyContent,
  { slot: frontend, values, rows }: PlacedEntry['frontends'][number],
  settled: PlacedRows | undefined,
): { readonly turn: readonly Command[]; readonly obsolete: readonly Command[] } {
  const present = have.frontends.get(frontend) ?? {}
  const changes = VALUE_MAPS.flatMap((map): Command[] => {
    const value = values[map]
    if (value === present[map]) return []
    if (value === undefined) return [{ do: 'del-map', map, frontend }]
    return [{ do: present[map] === undefined ? 'add-map' : 'set-map', map, frontend, value }]
  })
  const row = rowChanges(have, frontend, rows, settled)
  const at = (place: ReturnType<typeof placeAmongRows>) =>
    changes.filter((change) => placeAmongRows(change, present) === place)
  return {
    turn: [...at('before'), ...row.put, ...at('between').toReversed()],
    obsolete: [...row.remove, ...at('after')],
  }
}

/**
 * When to change a frontend's value: before new rows are added, after that and before old rows are removed, or after
 * the removal. The lookup by label is on as long as there are rows for it, the default exists as long as rows lead to
 * it, and requests go through the rules for routes as long as the backend is one of `ROUTED`.
 */
function placeAmongRows(change: Command, { backend }: FrontendValues): 'before' | 'between' | 'after' {
  if (!('map' in change)) return 'between'
  if (change.map === 'extras') return change.do === 'del-map' ? 'after' : 'before'
  if (change.map === 'defaults') return change.do === 'del-map' ? 'after' : 'between'
  if (!('value' in change)) return 'between'
  if (backend === ROUTED.named && change.value === ROUTED.wildcards) return 'before'
  return backend === ROUTED.wildcards && change.value === ROUTED.named ? 'after' : 'between'
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
  raise.length > 0 || turn.length > 0 || lower.some((command) => command.do === 'set-ready' || isTlsCommand(command))
