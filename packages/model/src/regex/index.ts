export { type Automaton, compileRegex, matchesRegex } from './automaton.ts'
export { parseRegex } from './parse-regex.ts'
export { RegexError } from './regex-node.ts'
export { MOST_REGEXES, whyUnusable } from './usable-regex.ts'
