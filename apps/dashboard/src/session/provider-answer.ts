/** What an OpenID Connect provider sends the browser back with: a code, or why it let nobody in. */
export type ProviderAnswer =
  | { readonly code: string; readonly state: string; readonly iss?: string }
  | { readonly error: string }

/** Where the provider sends the browser back to. */
const RETURN = '/ui/log-in'
/** Anybody can make a link with any text: only a word of the standard's form is shown (RFC 6749, section 4.1.2.1). */
const ERROR_WORD = /^[a-z_]{1,40}$/

/** Whether a page is at the place where a provider sends browsers back to. */
export const isReturn = ({ pathname }: Pick<Location, 'pathname'>): boolean => pathname === RETURN

/** The answer in an address of the page; null: this is no return from a provider. */
export function answerIn(at: Pick<Location, 'pathname' | 'search'>): ProviderAnswer | null {
  if (!isReturn(at)) return null
  const given = new URLSearchParams(at.search)
  const [code, state, iss, error] = ['code', 'state', 'iss', 'error'].map((name) => given.get(name))
  if (error != null) return { error: ERROR_WORD.test(error) ? error : 'unknown_error' }
  if (code == null || state == null) return null
  return { code, state, ...(iss != null && { iss }) }
}
