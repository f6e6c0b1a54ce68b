import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadConfig } from '@spout/runtime/config'
import { type AgentConfig, agentConfig } from './config.ts'

/** A command line that cannot be read. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'
}

/**
 * Settings from the file, the environment (`SPOUT_AGENT_SERVER_URL`) and flags.
 * @returns `print` is what `--print-config` asked for, else null
 * @throws ArgumentError, ConfigError
 */
export function readArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly config: AgentConfig; readonly print: string | null } {
  const { config: file, set, 'print-config': wantsPrint } = parse(argv)
  const loaded = loadConfig(agentConfig, {
    ...(file === undefined ? {} : { file: { name: file, text: read(file) } }),
    environment: { prefix: 'SPOUT_AGENT', variables: env },
    set: set ?? [],
  })
  return { config: loaded.config, print: wantsPrint ? loaded.print() : null }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        set: { type: 'string', multiple: true },
        'print-config': { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new ArgumentError((error as Error).message)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ArgumentError((error as Error).message)
  }
}
