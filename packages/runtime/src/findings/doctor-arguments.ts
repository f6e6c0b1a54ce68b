import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { FINDING_FORMATS, type FindingFormat } from './written-findings.ts'

/** What a program is asked for by `doctor`. */
export type DoctorArguments =
  /** It was called wrongly, and this says how. */
  | { readonly wrong: string }
  | { readonly wrong: null; readonly usage: string }
  | {
      readonly wrong: null
      readonly usage: null
      readonly all: boolean
      readonly format: FindingFormat
      /** The command line of the program's settings. */
      readonly settings: readonly string[]
    }

/**
 * Reads what follows the word `doctor`.
 * @param program as people type it
 * @param settingsFile where packages put the settings; read unless a file is named, if it exists
 */
export function doctorArguments(argv: readonly string[], program: string, settingsFile: string): DoctorArguments {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        all: { type: 'boolean', default: false },
        output: { type: 'string', short: 'o', default: 'text' },
        config: { type: 'string' },
        set: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { wrong: null, usage: usage(program, settingsFile) }
    const format = FINDING_FORMATS.find((one) => one === values.output)
    if (format === undefined) return { wrong: `-o: ${values.output} is none of ${FINDING_FORMATS.join(', ')}` }
    const file = values.config ?? (existsSync(settingsFile) ? settingsFile : undefined)
    const settings = [
      ...(file === undefined ? [] : ['--config', file]),
      ...values.set.flatMap((setting) => ['--set', setting]),
    ]
    return { wrong: null, usage: null, all: values.all, format, settings }
  } catch (error) {
    return { wrong: `${(error as Error).message}; --help lists the options` }
  }
}

const usage = (program: string, settingsFile: string): string => `Usage: ${program} doctor [options]

Looks for what is wrong with this machine, and says what to do. It changes nothing. Run it as root, with the settings of
the process; without --config those in ${settingsFile}, if that exists.

Options:
  --all                    also says what is right
  -o, --output FORMAT      text, json or yaml
  --config FILE            settings, as YAML
  --set section.key=value  a setting; given any number of times
  -h, --help               prints this, and ends

Exit codes: 0 nothing to do, 1 somebody has to act, 2 called wrongly. docs/doctor.md has every finding.
`
