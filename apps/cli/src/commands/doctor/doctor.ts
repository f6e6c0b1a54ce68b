import { ApiProblem } from '@spout/client/api'
import { type Command, Option } from 'commander'
import { stringify } from 'yaml'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import { readFacts } from './facts.ts'
import { needsAction } from './finding.ts'
import { findingsText } from './findings-text.ts'

type Format = 'text' | 'json' | 'yaml'

/** Adds `spout doctor`. The exit status is 1 when somebody has to act: an error or a warning. */
export function addDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('looks for what is wrong with the installation, or will be, and says what to do (administrators)')
    .option('--all', 'also say what is right')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'yaml']).default('text'))
    .action(async ({ all, output }: { readonly all?: boolean; readonly output: Format }) => {
      // Loaded only here: other commands start faster without the checks.
      const { findingsOf } = await import('./installation.ts')
      const findings = findingsOf(await readFacts(sessionOf(context)))
      const shown = findings.filter(({ level }) => all || level !== 'ok')
      if (output === 'json') context.write(`${JSON.stringify(shown, null, 2)}\n`)
      else if (output === 'yaml') context.write(stringify(shown))
      else context.write(shown.length === 0 ? 'Nothing to do.\n' : findingsText(shown, context.colour))
      const wrong = findings.filter(needsAction).length
      if (wrong > 0) throw new ApiProblem(422, wrong === 1 ? '1 finding needs you' : `${wrong} findings need you`, null)
    })
}
