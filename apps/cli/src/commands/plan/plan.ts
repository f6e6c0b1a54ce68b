import type { Command } from 'commander'
import { type CommandContext, sessionOf } from '../connections/context.ts'

/** Adds `spout plan --dry-run FILE`: runs the planner here, on a document that is not stored. */
export function addPlan(program: Command, context: CommandContext): void {
  program
    .command('plan')
    .description(
      'what the planner would decide for a load balancer in the format of `spout lb show NAME -o yaml`; stores nothing',
    )
    .requiredOption('--dry-run', 'required: nothing is written')
    .argument('<file>', 'YAML or JSON')
    .action(async (file: string) => {
      // Loaded only here: other commands start faster without the planner.
      const { dryRun } = await import('./plan-dry-run.ts')
      context.write(await dryRun(sessionOf(context), file))
    })
}
