/** The native helper compared with `nft -f`, without an agent: runs the program of the `sys` package. */
import path from 'node:path'
import { must } from '@spout/testkit'
import { benchOptions, printRow } from './row.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
/** The goals for each of the program's loads. */
const GOALS: Readonly<Record<string, { readonly goal: string; readonly mostMs: number }>> = {
  'nft-bulk-load': { goal: '640000 elements <= 2000 ms', mostMs: 2000 },
  'nft-one-change-p50': { goal: 'one element among 640000, p50 <= 1 ms', mostMs: 1 },
  'nft-one-change-p99': { goal: 'one element among 640000, p99 <= 5 ms', mostMs: 5 },
}

interface HelperLine {
  readonly name: string
  readonly oursMs: number
  readonly peerMs: number
  readonly [figure: string]: string | number
}

const options = benchOptions()
const program = path.join(ROOT, 'packages/sys/bench/nft-loads.ts')
const output = await must([process.execPath, program, path.join(ROOT, 'native/build/spout-helper')], {
  timeoutMs: 300_000,
})
for (const line of output.split('\n').filter(Boolean)) {
  const { name, oursMs, peerMs, ratio: _, ...detail } = JSON.parse(line) as HelperLine
  const { goal, mostMs } = GOALS[name] ?? { goal: 'none', mostMs: Number.POSITIVE_INFINITY }
  printRow(
    {
      name: `helper-${name}`,
      ours: { ms: oursMs },
      peer: { ms: peerMs },
      comparedWith: '`nft -f` spawned',
      ratio: oursMs / peerMs,
      goal,
      pass: oursMs <= mostMs,
      detail,
    },
    options,
  )
}
