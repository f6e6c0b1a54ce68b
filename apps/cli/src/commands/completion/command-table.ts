import type { Command } from 'commander'

/** One command as a shell completes it; the first row is the program itself. */
export interface CommandRow {
  /** The words of the command after `spout`, joined by spaces; empty for the program. */
  readonly path: string
  readonly subcommands: readonly Word[]
  readonly options: readonly OptionRow[]
}

export interface Word {
  readonly name: string
  readonly summary: string
}

export interface OptionRow {
  /** `-o` and `--output`, as they are typed. */
  readonly flags: readonly string[]
  readonly summary: string
  /** Whether a value follows. */
  readonly takesValue: boolean
  /** The values that there are; empty if any is allowed. */
  readonly choices: readonly string[]
}

/** Every command of a program with its options, parents before their subcommands. Hidden ones are left out. */
export function commandTable(command: Command, path = ''): readonly CommandRow[] {
  const help = command.createHelp()
  // `help` is no command that somebody completes, and has no options.
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  const named = children.flatMap((child) => [child.name(), ...child.aliases()].map((name) => ({ name, child })))
  const own: CommandRow = {
    path,
    subcommands: named.map(({ name, child }) => ({ name, summary: child.description() })),
    options: help.visibleOptions(command).map((option) => ({
      flags: [option.short, option.long].filter((flag) => flag !== undefined),
      summary: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
    })),
  }
  return [own, ...named.flatMap(({ name, child }) => commandTable(child, path === '' ? name : `${path} ${name}`))]
}

/** `command:flag` of the options that a value follows, in the form that all three scripts look up. */
export const valueKeys = ({ path, options }: CommandRow): readonly string[] =>
  options.filter(({ takesValue }) => takesValue).flatMap(({ flags }) => flags.map((flag) => `${path}:${flag}`))
