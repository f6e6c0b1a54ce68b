/**
 * The format of a line of an access log: text with fields in braces, such as `{client} {status}`. `{{` and `}}` are
 * braces. `json`, `common` and `combined` are predefined formats.
 */

export const ACCESS_LOG_FIELDS = [
  'time',
  'listener',
  'client',
  'client-port',
  'vip',
  'vip-port',
  'method',
  'uri',
  'version',
  'host',
  'status',
  'bytes-in',
  'bytes-out',
  'duration-us',
  'wait-ms',
  'pool',
  'member',
  'member-port',
  'user-agent',
  'referer',
  'tls-version',
  'sni',
  'ending',
] as const
export type AccessLogField = (typeof ACCESS_LOG_FIELDS)[number]

/** The formats of Apache's documentation ("Log Files"), as templates. */
export const NAMED_FORMATS = {
  common: '{client} - - [{time}] "{method} {uri} HTTP/{version}" {status} {bytes-out}',
  combined: '{client} - - [{time}] "{method} {uri} HTTP/{version}" {status} {bytes-out} "{referer}" "{user-agent}"',
} as const
export const JSON_FORMAT = 'json'
export const MOST_FORMAT_LENGTH = 512

/** A piece of text, or a field. */
export type FormatPart = string | { readonly field: AccessLogField }

const isField = (name: string): name is AccessLogField => ACCESS_LOG_FIELDS.some((one) => one === name)

/** @returns the parts of a template, or a text that says why the template is invalid */
export function parseAccessLogFormat(format: string): readonly FormatPart[] | string {
  if (format.length > MOST_FORMAT_LENGTH) return `is longer than ${MOST_FORMAT_LENGTH} characters`
  if (!/^[ -~]*$/.test(format)) return 'has characters other than printable ASCII'
  const parts: FormatPart[] = []
  for (const [piece, name] of format.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g)) {
    if (piece === '{{' || piece === '}}') parts.push(piece.slice(1))
    else if (piece === '{' || piece === '}')
      return `has a ${piece} that belongs to no field; write ${piece}${piece} for a brace`
    else if (name === undefined) parts.push(piece)
    else if (isField(name)) parts.push({ field: name })
    else return `has no field named ${JSON.stringify(name)}; there are ${ACCESS_LOG_FIELDS.join(', ')}`
  }
  if (!parts.some((part) => typeof part !== 'string')) return 'names no field'
  return parts
}

/** The template of a named format, or the text itself; null for JSON, which has all fields. */
export const templateOf = (format: string): string | null =>
  format === JSON_FORMAT
    ? null
    : Object.hasOwn(NAMED_FORMATS, format)
      ? NAMED_FORMATS[format as keyof typeof NAMED_FORMATS]
      : format

/** Why a text is not a valid format; null if it is one. */
export const whyNoFormat = (format: string): string | null => {
  const template = templateOf(format)
  const parsed = template === null ? [] : parseAccessLogFormat(template)
  return typeof parsed === 'string' ? parsed : null
}
