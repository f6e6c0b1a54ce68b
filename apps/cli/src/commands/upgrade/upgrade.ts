import { ApiProblem } from '@spout/client/api'
import { VERSION } from '@spout/runtime/version'
import { type Command, Option } from 'commander'
import { DATA_FORMATS, type DataFormat, printData } from '../../output/print-data.ts'
import { type CommandContext, sessionOf } from '../connections/context.ts'
import { UPGRADES_FROM } from './promise.ts'

interface Options {
  readonly output: DataFormat
  readonly controlPlanes: readonly string[]
}

const urls = (text: string): readonly string[] => text.split(',').map((url) => url.trim().replace(/\/$/, ''))

/** Adds `spout upgrade`. The exit status is 1 when something is in the way of the upgrade. */
export function addUpgrade(program: Command, context: CommandContext): void {
  program
    .command('upgrade')
    .description("says what an upgrade to this command's version takes, in which order (administrators)")
    .requiredOption('--check', 'only this: programs are upgraded by the tool that installed them')
    .option(
      '--control-planes <urls>',
      'control planes to ask that SPOUT_ENDPOINT does not name, comma-separated',
      urls,
      [],
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(DATA_FORMATS).default('text'))
    .action(async ({ output, controlPlanes }: Options) => {
      // Loaded only here: other commands start faster without them.
      const [{ readInstalled }, { assess }, { assessmentText }, { FORMATS }] = await Promise.all([
        import('./installed.ts'),
        import('./assess.ts'),
        import('./assessment-text.ts'),
        import('@spout/store/formats'),
      ])
      const installed = await readInstalled(sessionOf(context), controlPlanes)
      const assessment = assess(installed, { version: VERSION, from: UPGRADES_FROM, formats: FORMATS })
      context.write(printData(assessment, output, () => assessmentText(assessment, context.colour)))
      const count = assessment.obstacles.length
      if (count > 0) throw new ApiProblem(422, `${count === 1 ? '1 thing is' : `${count} things are`} in the way`, null)
    })
}
