import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LocalPlan } from '@spout/plan/local'
import type { AgentConfig } from './config.ts'

const PROGRAM = fileURLToPath(new URL('./settings-program.ts', import.meta.url))

/** Either text to print, or the settings and what each node of `local.nodes` gets by them. */
export type AgentSettings =
  | { readonly print: string }
  | { readonly print: null; readonly config: AgentConfig; readonly local: LocalPlans }

/** By fabric address. */
export type LocalPlans = Readonly<Record<string, LocalPlan>>

/**
 * Reads the settings in a separate process, since schemas, planner and YAML parser would use a tenth of the
 * memory of an agent that runs for months on every node.
 * @returns the exit code if the settings are wrong, which has been printed by then
 */
export function readSettings(argv: readonly string[]): AgentSettings | number {
  const { status, stdout, error } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error) throw error
  return status === 0 ? (JSON.parse(stdout.toString('utf8')) as AgentSettings) : (status ?? 1)
}
