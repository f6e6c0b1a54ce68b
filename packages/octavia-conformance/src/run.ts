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

export interface RunOptions extends TrialOptions {
  readonly trafficMember: TrafficMember | null
}

/** Makes all checks. @throws the signal's reason when it is aborted; what was made is then still there */
export async function runChecks(options: RunOptions): Promise<readonly Result[]> {
  const trial = new Trial(options)
  const lb = await checkLoadBalancers(trial)
  if (lb === null) trial.skip('everything else', 'there is no load balancer')
  else {
    await checkStranger(trial, lb)
    await checkPools(trial, lb)
    await checkListeners(trial, lb)
    await checkLists(trial, lb)
  }
  if (lb !== null) {
    await checkGraph(trial)
    await checkTraffic(trial, options.trafficMember)
    await checkDeletion(trial, lb)
  }
  return trial.results
}

const PAUSE_MS = 500

/**
 * Deletes what a run made, found by its names: also what the run did not hear of, because its answer was lost.
 * @returns names of what is left after this time
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
    // While one is PENDING its deletion is refused, and asked for again.
    for (const { id } of own) await client.ask('DELETE', `/loadbalancers/${String(id)}?cascade=true`)
    await sleep(PAUSE_MS)
  }
}
