import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CommandLine } from '@spout/runtime/command-line'
import type { AgentConfig } from './config.ts'

const PROGRAM = fileURLToPath(new URL('./settings-program.ts', import.meta.url))

/**
 * Reads the settings in a separate process, since the schema library and the YAML parser would use a tenth of the
 * memory of an agent that runs for months on every node.
 * @returns the exit code if the settings are wrong, which has been printed by then
 */
export function readSettings(argv: readonly string[]): CommandLine<AgentConfig> | number {
  const { status, stdout, error } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) throw error
  return status === 0 ? (JSON.parse(stdout.toString('utf8')) as CommandLine<AgentConfig>) : (status ?? 1)
}
