import { storeStep } from '../certificates/tls-command.ts'
import type { Command } from '../commands/command.ts'
import { planChanges } from '../commands/plan-changes.ts'
import { ProxyLost } from '../commands/stats-socket.ts'
import { NOTHING_PLACED, type PlacedEntry } from '../rendering/content.ts'
import type { RenderedEntry } from '../rendering/render.ts'
import type { CurrentProxy } from './current-proxy.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { RunningProxy } from './running-proxy.ts'
import { changesOwners, changesUnreadable, type Move } from './slot-assignments.ts'

/**
 * Applies entries: by commands to the running process, or by a new process if slots of a shape are lacking. Unchanged
 * entries cost nothing. Never throws for an entry.
 */
export async function applyEntries(
  current: CurrentProxy,
  put: readonly RenderedEntry[],
  remove: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  const { assignments } = current
  const outcomes = new Map<string, Outcome>()
  const moves = remove.filter((key) => assignments.has(key)).map((key) => assignments.moveTo(key, undefined))
  const revision = assignments.revision
  for (const entry of put) {
    try {
      moves.push(assignments.moveTo(entry.key, entry))
      outcomes.set(entry.key, null)
    } catch (error) {
      outcomes.set(entry.key, outcomeOf(error))
    }
  }
  try {
    const replace = current.running === null || assignments.revision !== revision
    const refused = replace ? await restartWith(current, moves) : await changeBy(current, moves)
    for (const [key, message] of refused) outcomes.set(key, { reason: 'ProxyRefused', message })
  } catch (error) {
    for (const { key } of moves) outcomes.set(key, outcomeOf(error))
  }
  return outcomes
}

/** Starts a new process with all wanted entries. @throws if it does not start; nothing has changed then */
export async function restartWith(current: CurrentProxy, moves: readonly Move[]): Promise<ReadonlyMap<string, string>> {
  const takeBack = current.assignments.commitAll(moves)
  try {
    await current.start()
  } catch (error) {
    takeBack()
    throw error
  }
  for (const move of moves) forgetCounters(current, move)
  return new Map()
}

/** Starts the process again with all entries. */
export async function recover(current: CurrentProxy): Promise<void> {
  const { assignments } = current
  if (await current.regain())
    await changeBy(
      current,
      assignments.rendered.map((entry) => assignments.moveTo(entry.key, entry)),
    )
}

/** Removes slots and servers of an earlier agent that no entry holds. */
export async function pruneUnheld(current: CurrentProxy): Promise<void> {
  const { assignments, running } = current
  assignments.releaseUnheld()
  if (running === null) return
  await changeContent(current, running, assignments.unheld(running.content), NOTHING_PLACED)
  await current.confirm()
}

/** Changes the running process. @returns the proxy's error text for each entry that it refused and that is unchanged */
async function changeBy(current: CurrentProxy, moves: readonly Move[]): Promise<ReadonlyMap<string, string>> {
  const proxy = current.running
  if (proxy === null) throw new ProxyLost('the proxy is not running')
  try {
    const plans = moves.map((move) => ({
      move,
      plan: planChanges(proxy.content, move.placedBefore, move.placedAfter, proxy.settled),
    }))
    for (const { placedBefore, placedAfter } of moves)
      for (const placed of [placedBefore, placedAfter]) proxy.unsettle(placed)
    await countFromHere(current, proxy, moves)
    const refused = await executeFor(
      current,
      proxy,
      plans.map(({ move, plan }) => ({ move, commands: plan.raise })),
    )
    const willing = plans.filter(({ move }) => !refused.has(move.key))
    const turned = willing.map(({ move, plan }) => ({ move, commands: [...plan.turn, ...plan.lower] }))
    for (const [key, message] of await executeFor(current, proxy, turned)) refused.set(key, message)
    for (const { move } of plans) {
      if (refused.has(move.key)) await goBack(current, proxy, move)
      else {
        commit(current, move)
        proxy.settle(move.placedAfter)
      }
    }
    if (moves.some((move) => changesOwners(move) || changesUnreadable(move))) await current.confirm()
    return refused
  } catch (error) {
    if (!(error instanceof ProxyLost)) throw error
    for (const move of moves) commit(current, move)
    await recover(current)
    return new Map()
  }
}

/** From now on the counters of a frontend slot count for the entry that took the slot over. */
async function countFromHere({ counters }: CurrentProxy, proxy: RunningProxy, moves: readonly Move[]): Promise<void> {
  const given = moves.flatMap(({ placedBefore, placedAfter }) => {
    const had = new Set(placedBefore.frontends.map(({ slot }) => slot))
    return placedAfter.frontends.map(({ slot }) => slot).filter((slot) => !had.has(slot))
  })
  if (given.length > 0) counters.begin(given, await proxy.countersOf(given))
}

async function goBack(current: CurrentProxy, proxy: RunningProxy, move: Move): Promise<void> {
  await changeContent(current, proxy, move.placedAfter, move.placedBefore)
  current.drains.keep(move.placedBefore)
  current.assignments.abandon(move)
}

async function changeContent(
  current: CurrentProxy,
  proxy: RunningProxy,
  before: PlacedEntry,
  want: PlacedEntry,
): Promise<void> {
  const { raise, turn, lower } = planChanges(proxy.content, before, want)
  await current.execute(proxy, [...raise, ...turn, ...lower])
}

function commit(current: CurrentProxy, move: Move): void {
  current.assignments.commit(move)
  current.drains.keep(move.placedAfter)
  forgetCounters(current, move)
}

function forgetCounters({ counters }: CurrentProxy, { before, after }: Move): void {
  const services = new Set(after?.frontends.map(({ service }) => service))
  for (const { service } of before?.frontends ?? []) if (!services.has(service)) counters.forget(service)
}

/** @returns the proxy's error text, by key of the entry whose commands it refused */
async function executeFor(
  current: CurrentProxy,
  proxy: RunningProxy,
  plans: readonly { readonly move: Move; readonly commands: readonly Command[] }[],
): Promise<Map<string, string>> {
  const all = plans.flatMap(({ move, commands }) => commands.map((command) => ({ key: move.key, command })))
  const { commands, places } = storingOnce(all.map(({ command }) => command))
  const refusals = await current.execute(proxy, commands)
  const refused = new Map<string, string>()
  for (const [index, { key }] of all.entries()) {
    const refusal = refusals[places[index]!] ?? null
    // The first refusal causes those that follow.
    if (refusal !== null && !refused.has(key)) refused.set(key, refusal)
  }
  return refused
}

/**
 * Two entries may need the same file. HAProxy 2.6 dies when authorities are stored anew that servers already use.
 * @returns the commands without repetitions, and where in them each one is
 */
function storingOnce(all: readonly Command[]): {
  readonly commands: readonly Command[]
  readonly places: readonly number[]
} {
  const commands: Command[] = []
  const known = new Map<string, number>()
  const places = all.map((command) => {
    const store = storeStep(command)
    const place = known.get(store ?? '') ?? commands.push(command) - 1
    if (store !== null) known.set(store, place)
    return place
  })
  return { commands, places }
}
