import type { Distribution } from '../row.ts'
import type { Fault, FaultMaker } from './faults.ts'
import { FAULTS } from './faults.ts'
import type { Watchers } from './measure-faults.ts'
import { only } from './settings.ts'
import { OutageLog } from './summary.ts'

const ALL: readonly Fault[] = [...FAULTS, 'kill -9 of the elector']

export interface Sufferer {
  /** Its name in rows and in the picture. */
  readonly series: string
  readonly watchers: Watchers
  readonly faults: readonly Fault[]
  readonly runs: number
  /** Pairs of one lane run one after another, lanes concurrently. */
  readonly lane: number
}

/** Causes every fault on every pair, in turn, so that a slow machine affects all alike. */
export async function rounds(
  sufferers: readonly Sufferer[],
  faults: FaultMaker,
): Promise<ReadonlyMap<string, OutageLog>> {
  const logs = new Map(sufferers.map(({ series }) => [series, new OutageLog()]))
  const lanes = [...new Set(sufferers.map(({ lane }) => lane))]
  const most = Math.max(...sufferers.map(({ runs }) => runs))
  for (let run = 0; run < most; run++)
    for (const fault of only('FAULTS', ALL)) {
      const due = sufferers.filter((one) => run < one.runs && one.faults.includes(fault))
      // Ours alone; peers run concurrently because they mostly wait for their timers.
      for (const one of due.filter(({ lane }) => lane === 0))
        logs.get(one.series)?.add(await one.watchers.suffer(fault, faults))
      await Promise.all(
        lanes
          .filter((lane) => lane !== 0)
          .map(async (lane) => {
            for (const one of due.filter((other) => other.lane === lane))
              logs.get(one.series)?.add(await one.watchers.suffer(fault, faults))
          }),
      )
    }
  return logs
}

/** A distribution for each series and fault that was measured. */
export const distributionsOf = (logs: ReadonlyMap<string, OutageLog>): Readonly<Record<string, Distribution>> =>
  Object.fromEntries(
    [...logs].flatMap(([series, log]) =>
      ALL.flatMap((fault) => (log.of(fault).count > 0 ? [[`${series}, ${fault}`, log.of(fault)]] : [])),
    ),
  )
