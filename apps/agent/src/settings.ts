import { spawnSync } from 'node:child_process'
import path from 'node:path'
import type { AgentConfig } from './config.ts'

export interface Settings {
  readonly config: AgentConfig
  /** What `--print-config` asked for, else null. */
  readonly print: string | null
}

const PROGRAM = path.join(import.meta.dirname, 'settings-program.ts')

/**
 * Reads the settings in a process of its own: the schema library and the YAML parser that check them would stay in the
 * memory of an agent that runs for months on every node, and they are a tenth of it.
 * @returns the exit code instead when they are wrong, which has been told by then
 */
export function readSettings(argv: readonly string[]): Settings | number {
  const { status, stdout, error } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) throw error
  return status === 0 ? (JSON.parse(stdout.toString('utf8')) as Settings) : (status ?? 1)
}
