const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/

/** A text as one word of a POSIX shell. Whatever a tenant wrote in it, it stays one word. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Whether a program would take the word for an option, such as one that sends credentials elsewhere. */
const looksLikeOption = (word: string): boolean => word.startsWith('-')

/** The value `true`: the flag stands alone. */
type Option = readonly [flag: string, value: string | number | true | null | undefined]

/**
 * A command with its options; those without a value are left out. A name that begins with a dash stays a name: it and
 * what comes after it stand behind `--`.
 */
export function command(
  words: readonly string[],
  options: readonly Option[] = [],
  last: readonly string[] = [],
): string {
  const firstOdd = words.findIndex(looksLikeOption)
  const verbs = firstOdd < 0 ? words : words.slice(0, firstOdd)
  const names = [...words.slice(verbs.length), ...last]
  return [
    ...verbs.map(shellWord),
    ...options.flatMap(optionWords),
    ...(names.some(looksLikeOption) ? ['--'] : []),
    ...names.map(shellWord),
  ].join(' ')
}

function optionWords([flag, value]: Option): readonly string[] {
  if (value == null || value === '') return []
  if (value === true) return [flag]
  const word = String(value)
  return looksLikeOption(word) ? [`${flag}=${shellWord(word)}`] : [flag, shellWord(word)]
}
