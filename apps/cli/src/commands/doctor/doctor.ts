import { ApiProblem } from '@spout/client/api'
import { FINDING_FORMATS, type FindingFormat, needOf, writtenFindings } from '@spout/runtime/findings'
import { type Command, Option } from 'commander'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import { readFacts } from './facts.ts'

/** Adds `spout doctor`. The exit status is 1 when somebody has to act: an error or a warning. */
export function addDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('looks for what is wrong with the installation, or will be, and says what to do (administrators)')
    .option('--all', 'also say what is right')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FINDING_FORMATS).default('text'))
    .action(async ({ all = false, output }: { readonly all?: boolean; readonly output: FindingFormat }) => {
      // Loaded only here: other commands start faster without the checks.
      const { findingsOf } = await import('./installation.ts')
      const findings = findingsOf(await readFacts(sessionOf(context)))
      context.write(writtenFindings(findings, { format: output, all, colour: context.colour }))
      const need = needOf(findings)
      if (need !== null) throw new ApiProblem(422, need, null)
    })
}
