import { type CommandRow, type OptionRow, valueKeys } from './command-table.ts'

/** In single quotes fish reads only these two with a backslash. */
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`

/** A script for fish. */
export function fishCompletion(rows: readonly CommandRow[]): string {
  const commands = rows.filter(({ path }) => path !== '')
  return `# Completion of spout for fish, made by \`spout completion fish\`.
# The command of the line so far, without its options and names.
function __spout_at
    set -l at ''
    set -l before ''
    for word in (commandline --tokenize --current-process --cut-at-cursor)[2..]
        switch "$at:$before"
            case ${rows.flatMap(valueKeys).map(quoted).join(' ')}
                set before ''
                continue
        end
        set before $word
        set -l longer (string trim -- "$at $word")
        switch "$longer"
            case ${commands.map(({ path }) => quoted(path)).join(' ')}
                set at $longer
        end
    end
    echo $at
end
complete --command spout --no-files
${rows.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, subcommands, options }: CommandRow): readonly string[] {
  const start = `complete --command spout --condition ${quoted(`test "$(__spout_at)" = "${path}"`)}`
  return [
    ...subcommands.map(({ name, summary }) => `${start} --arguments ${name} --description ${quoted(summary)}`),
    ...options.map((option) => `${start} ${wordsOf(option)}`),
  ]
}

function wordsOf({ flags, summary, takesValue, choices }: OptionRow): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `--long-option ${flag.slice(2)}` : `--short-option ${flag.slice(1)}`,
  )
  const values =
    choices.length > 0
      ? [`--exclusive --arguments ${quoted(choices.join(' '))}`]
      : ['--require-parameter --force-files']
  return [...names, ...(takesValue ? values : []), `--description ${quoted(summary)}`].join(' ')
}
