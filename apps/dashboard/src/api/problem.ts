/** An answer other than success: a problem document (RFC 9457) of the control plane, or no answer at all. */
export class Problem extends Error {
  override readonly name = 'Problem'
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number
  /** A code of the error table, such as `AddressTaken`; null when the answer was no problem document. */
  readonly code: string | null
  /** The fields that are wrong, as paths of the request such as `pools[0].members[1].address`. */
  readonly fields: readonly string[]

  constructor(status: number, detail: string, code: string | null = null, fields: readonly string[] = []) {
    super(detail)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

interface ProblemDocument {
  readonly title?: string
  readonly detail?: string
  readonly code?: string
  readonly field?: string
  readonly fields?: readonly string[]
}

/** @param text the body of an answer with this status, which may be anything */
export function problemOf(status: number, text: string): Problem {
  const { detail, title, code, field, fields } = documentIn(text)
  const wrong = fields ?? (field === undefined ? [] : [field])
  return new Problem(status, detail ?? title ?? `The server answered ${status}.`, code ?? null, wrong)
}

function documentIn(text: string): ProblemDocument {
  try {
    return (JSON.parse(text) ?? {}) as ProblemDocument
  } catch {
    return {}
  }
}

/** Whether the session has ended. A login that was refused is also 401, and is no end of a session. */
export const isExpired = (error: unknown): boolean =>
  error instanceof Problem && error.status === 401 && error.code !== 'Unauthenticated'

/** What went wrong, as a sentence for people: the server's texts have no end, and some begin small. */
export const problemText = (error: unknown): string =>
  error instanceof Error ? sentenceOf(error.message) : 'Something went wrong in this page.'

/** A text with a capital at its beginning and a full stop at its end. */
export const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`

/**
 * The reason without the words `Field x:`, for a text that stands at the field itself.
 * `Field vips[0].poolId: is not a UUID` becomes `is not a UUID`.
 */
export function reasonAtField({ message, fields }: Problem): string {
  const [field] = fields
  const prefix = `Field ${field}`
  if (field === undefined || !message.startsWith(prefix)) return message
  return message.slice(prefix.length).replace(/^:?\s*/, '')
}
