import { setTimeout as sleep } from 'node:timers/promises'
import type { OctaviaClient } from '@spout/octavia-client'
import { checkDeletion, checkGraph } from './graph.ts'
import { checkListeners } from './listeners.ts'
import { checkLists } from './lists.ts'
import { checkLoadBalancers, checkStranger } from './load-balancers.ts'
import { checkPools } from './pools.ts'
import type { Result } from './result.ts'
import { checkTraffic, type TrafficMember } from './traffic.ts'
import { Trial, type TrialOptions } from './trial.ts'

/**
 * The parts of a run that can be chosen. Load balancers themselves are always checked first. `pools` includes members
 * and health monitors, `listeners` includes policies and rules.
 */
export const PARTS = ['projects', 'pools', 'listeners', 'lists', 'graphs', 'traffic', 'deletion'] as const
export type Part = (typeof PARTS)[number]

export interface RunOptions extends TrialOptions {
  readonly trafficMember: TrafficMember | null
  readonly parts: ReadonlySet<Part>
}

/** Makes the checks. @throws the signal's reason when it is aborted; what the run created then still exists */
export async function runChecks({ parts, trafficMember, ...options }: RunOptions): Promise<readonly Result[]> {
  const trial = new Trial(options)
  const lb = await checkLoadBalancers(trial)
  if (lb === null) {
    trial.skip('everything else', 'there is no load balancer')
    return trial.results
  }
  const checks: Readonly<Record<Part, () => Promise<void>>> = {
    projects: () => checkStranger(trial, lb),
    pools: () => checkPools(trial, lb),
    listeners: () => checkListeners(trial, lb),
    lists: () => checkLists(trial, lb),
    graphs: () => checkGraph(trial),
    traffic: () => checkTraffic(trial, trafficMember),
    deletion: () => checkDeletion(trial, lb),
  }
  for (const part of PARTS) if (parts.has(part)) await checks[part]()
  return trial.results
}

const PAUSE_MS = 500

/**
 * Deletes what a run created. It finds load balancers by their names, so that one whose answer was lost goes, too.
 * @returns names of those that are left after this time
 */
export async function cleanUp(
  client: Pick<OctaviaClient, 'ask' | 'list'>,
  prefix: string,
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const all = await client.list('/loadbalancers')
    const own = all.filter(({ name }) => String(name).startsWith(`${prefix}-`))
    const names = own.map(({ name, id }) => `${String(name)} (${String(id)})`)
    if (own.length === 0 || performance.now() > deadline) return names
    // A load balancer that is PENDING refuses its deletion, so it is asked again.
    for (const { id } of own) await client.ask('DELETE', `/loadbalancers/${String(id)}?cascade=true`)
    await sleep(PAUSE_MS)
  }
}
