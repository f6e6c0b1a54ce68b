/** Memory of a process that keeps 10,000 EndpointSlices of ten endpoints each, and the time that a list takes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { ReflectLine } from './programs/reflect-slices.ts'
import type { ListeningLine } from './programs/slice-server.ts'
import { benchOptions, printRow } from './row.ts'

const ENDPOINTS = 10
const MOST_MB = 100
const options = benchOptions()
const slices = options.quick ? 2000 : 10_000

type Child = ChildProcessByStdio<Writable, Readable, null>

/**
 * As Spout's processes are started (docs/operations.md). Without them a change of all slices at once took 117 to 128
 * MB.
 */
const FLAGS = ['--max-semi-space-size=2', '--heap-growing-percent=50']

const start = (flags: readonly string[], program: string, argv: readonly (string | number)[]): Child =>
  spawn(process.execPath, [...flags, path.join(import.meta.dirname, 'programs', program), ...argv.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
const linesOf = (child: Child): AsyncIterator<string> =>
  createInterface({ input: child.stdout })[Symbol.asyncIterator]()
async function next(lines: AsyncIterator<string>, what: string): Promise<string> {
  const { value, done } = await lines.next()
  if (done) throw new Error(`ended before ${what}`)
  return value
}

const server = start([], 'slice-server.ts', [slices, ENDPOINTS])
const children = [server]
try {
  const { port } = JSON.parse(await next(linesOf(server), 'it listened')) as ListeningLine
  const reflector = start(FLAGS, 'reflect-slices.ts', [port, slices])
  children.push(reflector)
  const lines = linesOf(reflector)
  const listed = JSON.parse(await next(lines, 'it had listed')) as ReflectLine
  server.stdin.write('tell\n')
  const changed = JSON.parse(await next(lines, 'all had changed')) as ReflectLine
  const overMb = Math.max(listed.peakMb, changed.peakMb) - listed.baseMb
  printRow(
    {
      name: 'kube-memory',
      ours: { peakOverBaseMb: overMb },
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: `10000 EndpointSlices, ${ENDPOINTS} endpoints each, <= ${MOST_MB} MB RSS over base at the peak`,
      pass: listed.objects === slices && overMb <= MOST_MB,
      detail: {
        slices,
        receivedMb: listed.receivedMb,
        baseMb: listed.baseMb,
        afterListMb: listed.peakMb - listed.baseMb,
        afterChangesMb: changed.settledMb - listed.baseMb,
        heapMb: changed.heapMb,
        listMs: listed.ms,
        changesMs: changed.ms,
      },
    },
    options,
  )
} finally {
  for (const child of children) child.kill('SIGKILL')
}
