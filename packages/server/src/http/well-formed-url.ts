/** A percent sign that begins no encoded byte (RFC 3986, section 2.1). */
const STRAY_PERCENT = /%(?![0-9a-f]{2})/gi

/**
 * The URL as the router may decode it. What decodes to no text cannot name anything of ours: its percent signs are taken
 * for themselves, so the request still reaches the surface that it was meant for, which answers 404 in its own words.
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
