/**
 * Checks the agent's settings and prints them as JSON: `{"config":...,"print":null}`. settings.ts runs it as a separate
 * process. Wrong settings are printed on standard error, with exit code 2.
 */
import { readCommandLine } from '@spout/runtime/command-line'
import { ConfigError } from '@spout/runtime/config'
import { agentConfig } from './config.ts'

try {
  process.stdout.write(JSON.stringify(readCommandLine(agentConfig, 'SPOUT_AGENT', process.argv.slice(2), process.env)))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`spout-agent: ${error.message}\n`)
  process.exitCode = 2
}
