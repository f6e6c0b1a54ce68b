import { spawn } from 'node:child_process'
import path from 'node:path'
import readline from 'node:readline'
import type { Masters } from '@spout/testkit'

export interface NewConnections {
  readonly asked: number
  readonly answered: number
  readonly failed: number
  /** The longest time in which no new connection was answered. */
  readonly longestMs: number
}

const PROGRAM = path.join(import.meta.dirname, 'new-connections-program.ts')

/** Opens new connections to the masters' address from a place of the lab until stopped. Resolves after the first answer. */
export async function connectAgainAndAgain(
  { lab, address, caFile }: Masters,
  place: string,
): Promise<{ stop(): Promise<NewConnections> }> {
  const [command = '', ...args] = lab.argvIn(place, [process.execPath, PROGRAM, address, '6443', caFile])
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  if ((await lines.next()).done) throw new Error(`the program in ${place} ended before the first answer`)
  return {
    stop: async () => {
      child.stdin.end()
      return JSON.parse((await lines.next()).value as string) as NewConnections
    },
  }
}
