/** An answer other than success, with the text of its problem document (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: string | null
  /** The field that is wrong; null when the problem is about none. */
  readonly field: string | null
  /** All fields that are wrong in the same way, where the server names several. */
  readonly fields: readonly string[]

  constructor(
    status: number,
    detail: string,
    code: string | null,
    field: string | null = null,
    fields: readonly string[] = [],
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.field = field
    this.fields = fields
  }
}

interface Problem {
  readonly title?: string
  readonly detail?: string
  readonly code?: string
  readonly field?: string
  readonly fields?: readonly string[]
}

/** @param text the body of an answer with this status, which may be anything */
export function problemOf(status: number, text: string): ApiProblem {
  const { detail, title, code, field, fields } = parsed(text) ?? {}
  const said = detail ?? title ?? `the server answered ${status}`
  return new ApiProblem(status, said, code ?? null, field ?? null, fields)
}

function parsed(text: string): Problem | null {
  try {
    return JSON.parse(text) as Problem
  } catch {
    return null
  }
}
