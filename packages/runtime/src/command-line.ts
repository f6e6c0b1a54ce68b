import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { z } from 'zod'
import { ConfigError, loadConfig } from './config.ts'

export interface CommandLine<T> {
  readonly config: T
  /** What `--print-config` asked for, else null. */
  readonly print: string | null
}

/**
 * The settings of a program: `[--config FILE] [--set section.key=value]... [--print-config]`, and its environment.
 * @param prefix of environment variables, such as `SPOUT_AGENT`
 * @throws ConfigError also for a command line that cannot be read
 */
export function readCommandLine<S extends z.ZodObject>(
  schema: S,
  prefix: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CommandLine<z.output<S>> {
  const { config: file, set, 'print-config': wantsPrint } = parse(argv)
  const loaded = loadConfig(schema, {
    ...(file === undefined ? {} : { file: { name: file, text: read(file) } }),
    environment: { prefix, variables: env },
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
    throw new ConfigError((error as Error).message)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}
