const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/

/** A text as one word of a POSIX shell. Whatever a tenant wrote in it, it stays one word. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

type Option = readonly [flag: string, value: string | number | null | undefined]

/** A command with its options; those without a value are left out. */
export const command = (
  words: readonly string[],
  options: readonly Option[] = [],
  last: readonly string[] = [],
): string =>
  [
    ...words.map(shellWord),
    ...options.flatMap(([flag, value]) => (value == null || value === '' ? [] : [flag, shellWord(String(value))])),
    ...last.map(shellWord),
  ].join(' ')
