/** A percent sign that starts no encoded byte (RFC 3986, section 2.1). */
const STRAY_PERCENT = /%(?![0-9a-f]{2})/gi

/**
 * A URL that the router can decode. In parts that cannot be decoded percent signs are escaped: they can name no object,
 * but the request still reaches its surface, which answers 404 in its own format.
 */
export function wellFormedUrl(url: string): string {
  const queryAt = url.indexOf('?')
  const [path, query] = queryAt === -1 ? [url, ''] : [url.slice(0, queryAt), url.slice(queryAt)]
  return isText(path) ? url : `${literal(path)}${query}`
}

function literal(path: string): string {
  const escaped = path.replaceAll(STRAY_PERCENT, '%25')
  return isText(escaped) ? escaped : path.replaceAll('%', '%25')
}

function isText(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURI(path)
    return true
  } catch {
    return false
  }
}
