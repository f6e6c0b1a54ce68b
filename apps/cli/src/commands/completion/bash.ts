import { optionsWithChoices, patterns, quoted } from './case-patterns.ts'
import { type CommandRow, valueKeys } from './command-table.ts'

/** A script for bash, which needs nothing besides it. `COMP_WORDS` are the words of the line, `COMP_CWORD` the one at the cursor. */
export function bashCompletion(rows: readonly CommandRow[]): string {
  const commands = rows.filter(({ path }) => path !== '')
  return `# Completion of spout for bash, made by \`spout completion bash\`.
_spout() {
  local current=\${COMP_WORDS[COMP_CWORD]} before='' at='' word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$at:$before" in
    ${patterns(rows.flatMap(valueKeys))}) before=''; continue ;;
    esac
    before=$word
    case "\${at:+$at }$word" in
    ${patterns(commands.map(({ path }) => path))}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at:$before" in
${optionsWithChoices(rows)
  .map(
    ({ keys, choices }) =>
      `  ${patterns(keys)}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$current")); return ;;`,
  )
  .join('\n')}
  ${patterns(rows.flatMap(valueKeys))}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  local commands='' options=''
  case $at in
${rows.map(casesOf).join('\n')}
  esac
  [[ $current == -* || -z $commands ]] && commands=$options
  COMPREPLY=($(compgen -W "$commands" -- "$current"))
}
complete -F _spout spout
`
}

const casesOf = ({ path, subcommands, options }: CommandRow): string =>
  `  ${quoted(path)}) commands=${quoted(subcommands.map(({ name }) => name).join(' '))} options=${quoted(options.flatMap(({ flags }) => flags).join(' '))} ;;`
