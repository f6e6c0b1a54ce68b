/** `spout-flows` beside conntrackd, without agents: the program of the `dataplane` package, in the form of all benchmarks. */
import path from 'node:path'
import { must } from '@spout/testkit'
import { median, pairedRatio, percentile } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

/** Connections that begin in one round, and in a second. */
const FLOWS = 5_000
const RATE = 1_000

interface Round {
  readonly program: 'spout-flows' | 'ftfw' | 'notrack'
  readonly opened: number
  readonly arrived: number
  /** Processor time a flow where it begins, and where it is held ready. */
  readonly fromUs: number
  readonly toUs: number
  readonly delaysMs: readonly number[]
}

const options = benchOptions()
const rounds = options.quick ? 2 : 5
const program = path.resolve(import.meta.dirname, '../packages/dataplane/bench/flow-replication.ts')
const output = await must([process.execPath, program, ...[FLOWS, RATE, rounds].map(String)], { timeoutMs: 600_000 })
const measured = output
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Round)
const of = (name: Round['program']) => measured.filter((round) => round.program === name)
const us = (name: Round['program']) => of(name).map(({ fromUs, toUs }) => fromUs + toUs)

function figures(name: Round['program']) {
  const delaysMs = of(name).flatMap((round) => round.delaysMs)
  return {
    usPerFlow: median(us(name)),
    fromUs: median(of(name).map(({ fromUs }) => fromUs)),
    toUs: median(of(name).map(({ toUs }) => toUs)),
    delayP50Ms: percentile(delaysMs, 0.5),
    delayP99Ms: percentile(delaysMs, 0.99),
    eventsNotSeen: of(name).reduce((sum, { opened, arrived }) => sum + opened - arrived, 0),
  }
}

const ratio = pairedRatio(us('spout-flows'), us('ftfw'))
const ours = figures('spout-flows')
const { usPerFlow, delayP50Ms, delayP99Ms, eventsNotSeen } = figures('notrack')
printRow(
  {
    name: 'flow-replication',
    ours,
    peer: figures('ftfw'),
    comparedWith: 'conntrackd in mode FTFW, which puts flows into the kernel at once (DisableExternalCache)',
    ratio,
    goal: 'no more processor time a flow than conntrackd in mode FTFW, p99 of the delay <= 20 ms',
    pass: ratio <= 1 && ours.delayP99Ms <= 20,
    detail: {
      ...{ rounds, flowsPerRound: FLOWS, perSecond: RATE },
      'NOTRACK without caches: us a flow': usPerFlow,
      'NOTRACK: delay p50 ms': delayP50Ms,
      'NOTRACK: delay p99 ms': delayP99Ms,
      'NOTRACK: events not seen': eventsNotSeen,
      'of spout-flows in the time of NOTRACK': pairedRatio(us('spout-flows'), us('notrack')),
    },
  },
  options,
)
