import { readFile } from 'node:fs/promises'
import { type MoverShard, parseMoverState } from './mover-state.ts'
import { vrrpFiles } from './vrrp-files.ts'

/** The shards of the mover that an agent runs in this directory; null if it has written no state. */
export async function runningShards(directory: string): Promise<readonly MoverShard[] | null> {
  const text = await readFile(vrrpFiles(directory).state, 'utf8').catch(() => '')
  return parseMoverState(text)?.shards ?? null
}
