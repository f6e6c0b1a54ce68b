import type { RedirectAction } from '@spout/model'
import type { AskedRequest } from './request-conditions.ts'

/**
 * The `Location` that a redirect answers a request with.
 * @param request its host is null when nobody said one: `(host)` then stands for it
 * @param scheme of the listener
 */
export function redirectLocation(
  action: RedirectAction,
  request: Pick<AskedRequest, 'host' | 'path' | 'query'>,
  scheme: 'http' | 'https',
): string {
  const host = action.host ?? request.host?.replace(/:[0-9]*$/, '') ?? '(host)'
  const port = action.port === null ? '' : `:${action.port}`
  return `${action.scheme ?? scheme}://${host}${port}${pathOf(action, request)}`
}

function pathOf({ path, pathPrefix, prefix }: RedirectAction, request: Pick<AskedRequest, 'path' | 'query'>): string {
  if (path !== null) return path
  const own = request.path ?? ''
  const query = request.query === '' ? '' : `?${request.query}`
  return `${prefix === undefined ? `${pathPrefix ?? ''}${own}` : replaced(own, prefix)}${query}`
}

/** The path with other first elements; another path stays. */
function replaced(path: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const old = from.replace(/\/+$/, '')
  if (!`${path}/`.startsWith(`${old}/`)) return path
  const rest = path.slice(old.length)
  const joined = `${to.replace(/\/+$/, '')}${rest}`
  return joined === '' ? '/' : joined
}
