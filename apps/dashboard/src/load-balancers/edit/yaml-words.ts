import { type Document, visit, type YAMLParseError } from 'yaml'

const TWO_IN_A_LINE = 'After a value a further name follows. Begin it in a line of its own, below the names beside it.'
const OTHER_COLUMN = 'This line begins in another column than the lines that it belongs to.'
const NO_COLON = 'After this name a colon is missing.'

/** What people most often get wrong, by the words that the parser has for it. */
const PLAIN: Readonly<Record<string, string>> = {
  'Nested mappings are not allowed in compact mappings': TWO_IN_A_LINE,
  'Implicit keys need to be on a single line': NO_COLON,
  'Implicit map keys need to be followed by map values': NO_COLON,
  'All mapping items must start at the same column': OTHER_COLUMN,
  'A block sequence may not be used as an implicit map key': OTHER_COLUMN,
  'All sequence items must start at the same column': OTHER_COLUMN,
  'Sequence item without - indicator': OTHER_COLUMN,
  'Missing closing "quote': 'A text that begins with " does not end with one.',
  "Missing closing 'quote": "A text that begins with ' does not end with one.",
  'Map keys must be unique': 'The name of this line stands in the same object twice.',
  'Tabs are not allowed as indentation': 'A tab indents this line. Use spaces.',
}

/** What is wrong in a text, in words for people who do not know the grammar of YAML. Rare faults keep the parser's words. */
export function yamlWords({ code, message }: Pick<YAMLParseError, 'code' | 'message'>): string {
  if (code === 'BAD_SCALAR_START') return `A text that begins with ${message.at(-1)} must stand in quotes.`
  const unclosed = / and end with a ([\]}])$/.exec(message)?.[1]
  if (unclosed !== undefined) return `Before this line a ${unclosed} is missing.`
  return PLAIN[message] ?? message
}

/**
 * Where people look for a fault: at the offset of the parser. But it notices a missing closing quote only where all
 * ends, and people look where that text begins.
 */
export function beginOfFault(yaml: Document.Parsed, { message, pos: [offset] }: YAMLParseError): number {
  let begin = offset
  if (message.startsWith('Missing closing '))
    visit(yaml, {
      Scalar: (_, { type, range }) => {
        if (type?.startsWith('QUOTE_') && range && range[1] >= offset) begin = range[0]
      },
    })
  return begin
}
