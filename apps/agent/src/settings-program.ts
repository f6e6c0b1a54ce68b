/**
 * Checks the agent's settings, plans what `local` says and prints both as JSON (`AgentSettings`). settings.ts runs it as
 * a separate process. Wrong settings are printed on standard error, with exit code 2.
 */
import { readCommandLine } from '@spout/runtime/command-line'
import { ConfigError } from '@spout/runtime/config'
import { agentConfig } from './config.ts'
import { localSettings } from './local-config.ts'
import type { AgentSettings } from './settings.ts'

try {
  process.stdout.write(JSON.stringify(await read()))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`spout-agent: ${error.message}\n`)
  process.exitCode = 2
}

async function read(): Promise<AgentSettings> {
  const line = readCommandLine(agentConfig, 'SPOUT_AGENT', process.argv.slice(2), process.env)
  if (line.print !== null) return line
  const { config } = line
  if (Object.keys(config.local.loadBalancers).length === 0) return { ...line, local: {} }
  const { planLocal } = await import('@spout/plan/local')
  return { ...line, local: Object.fromEntries(planLocal(localSettings(config.local))) }
}
