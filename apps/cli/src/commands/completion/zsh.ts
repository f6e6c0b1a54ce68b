import { optionsWithChoices, patterns, quoted } from './case-patterns.ts'
import { type CommandRow, valueKeys } from './command-table.ts'

/** An entry of `_describe`: the first colon ends the word. */
const described = (name: string, summary: string): string => quoted(`${name}:${summary}`)

/** A script for zsh: a file named `_spout` in a directory of `fpath`. */
export function zshCompletion(rows: readonly CommandRow[]): string {
  const commands = rows.filter(({ path }) => path !== '')
  return `#compdef spout
# Completion of spout for zsh, made by \`spout completion zsh\`.
_spout() {
  local before='' at='' word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
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
  .map(({ keys, choices }) => `  ${patterns(keys)}) compadd -- ${choices.map(quoted).join(' ')}; return ;;`)
  .join('\n')}
  ${patterns(rows.flatMap(valueKeys))}) _files; return ;;
  esac
  case $at in
${rows.map(casesOf).join('\n')}
  esac
  if [[ $words[CURRENT] == -* || \${#commands} -eq 0 ]]; then
    _describe option options
  else
    _describe command commands
  fi
}
_spout "$@"
`
}

const casesOf = ({ path, subcommands, options }: CommandRow): string => {
  const words = subcommands.map(({ name, summary }) => described(name, summary))
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.summary)))
  return `  ${quoted(path)}) commands=(${words.join(' ')}) options=(${flags.join(' ')}) ;;`
}
