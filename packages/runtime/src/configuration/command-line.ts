import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { z } from 'zod'
import { ConfigError, loadConfig } from './config.ts'
import { VERSION } from './version.ts'

/** Either text to print, for `--print-config`, `--help` or `--version`, or the settings. */
export type CommandLine<T> = { readonly print: string } | { readonly print: null; readonly config: T }

/**
 * Reads the settings of a program from its command line, `[--config FILE] [--set section.key=value]...
 * [--print-config]`, and its environment.
 * @param prefix of environment variables, such as `SPOUT_AGENT`
 * @throws ConfigError also when the command line cannot be parsed
 */
export function readCommandLine<S extends z.ZodObject>(
  schema: S,
  prefix: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CommandLine<z.output<S>> {
  const { config: file, set, 'print-config': wantsPrint, help, version } = parse(argv)
  if (help) return { print: usage(prefix) }
  if (version) return { print: VERSION }
  const loaded = loadConfig(schema, {
    ...(file === undefined ? {} : { file: { name: file, text: read(file) } }),
    environment: { prefix, variables: env },
    set: set ?? [],
  })
  return wantsPrint ? { print: loaded.print() } : { print: null, config: loaded.config }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        set: { type: 'string', multiple: true },
        'print-config': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}; --help lists the options`)
  }
}

const usage = (prefix: string): string => `Options:
  --config FILE            settings, as YAML
  --set section.key=value  a setting; given any number of times
  --print-config           prints the settings in force and where each comes from, and ends
  --version                prints the version, and ends
  -h, --help               prints this, and ends

Settings also come from the environment: log.level from ${prefix}_LOG_LEVEL. They override the file, and --set overrides both.
docs/configuration.md has all of them.`

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}
