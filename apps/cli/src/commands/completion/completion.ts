import { Argument, type Command } from 'commander'
import type { CommandContext } from '../connections/context.ts'
import { bashCompletion } from './bash.ts'
import { commandTable } from './command-table.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const
type Shell = keyof typeof SHELLS

/** Adds `spout completion SHELL`: a script made from the program's own commands. It asks no control plane. */
export function addCompletion(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('prints what completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', '\nbash: source <(spout completion bash). The Debian package installs all three.')
    .action((shell: Shell) => context.write(SHELLS[shell](commandTable(program))))
}
