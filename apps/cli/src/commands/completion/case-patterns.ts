import type { CommandRow } from './command-table.ts'

/** A word in single quotes, as bash and zsh read it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The words as the patterns of one branch of `case` in bash and zsh. */
export const patterns = (texts: readonly string[]): string => texts.map(quoted).join('|')

/** The options that have certain values: their keys as `valueKeys`, and the values. */
export const optionsWithChoices = (
  rows: readonly CommandRow[],
): readonly { readonly keys: readonly string[]; readonly choices: readonly string[] }[] =>
  rows.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ flags, choices }) => ({ keys: flags.map((flag) => `${path}:${flag}`), choices })),
  )
