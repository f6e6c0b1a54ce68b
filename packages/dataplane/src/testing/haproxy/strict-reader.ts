/**
 * Reads requests without any mercy: a message that leaves room for a second reading is in doubt, whatever it would be
 * read as (RFC 9112 section 11.2).
 */

export interface RequestsRead {
  /** Request lines of whole messages. */
  readonly whole: readonly string[]
  /** What stands in the way of reading it one way only; null when nothing does. */
  readonly doubt: string | null
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Reads requests as RFC 9112 has a sender write them. */
export function readRequests(bytes: Buffer): RequestsRead {
  const text = bytes.toString('latin1')
  const whole: string[] = []
  let at = 0
  const doubt = (why: string): RequestsRead => ({ whole, doubt: why })
  for (;;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) return { whole, doubt: null }
    const [line = '', ...fields] = text.slice(at, end).split('\r\n')
    if (/[\r\n\0]/.test(text.slice(at, end).replaceAll('\r\n', ''))) return doubt('a line end or NUL inside a line')
    if (!/^[A-Z]+ [\x21-\x7e]+ HTTP\/1\.[01]$/.test(line)) return doubt(`request line ${JSON.stringify(line)}`)
    const lengths: string[] = []
    const codings: string[] = []
    for (const field of fields) {
      const colon = field.indexOf(':')
      const name = field.slice(0, colon)
      if (colon < 1 || !TOKEN.test(name)) return doubt(`field ${JSON.stringify(field)}`)
      const value = field.slice(colon + 1).trim()
      if (name.toLowerCase() === 'content-length') lengths.push(value)
      if (name.toLowerCase() === 'transfer-encoding') codings.push(value)
    }
    if (lengths.length + codings.length > 1) return doubt(`framed by ${[...lengths, ...codings].join(' and ')}`)
    let next = end + 4
    if (lengths.length === 1) {
      if (!/^\d{1,9}$/.test(lengths[0]!)) return doubt(`length ${lengths[0]}`)
      next += Number(lengths[0])
    }
    if (codings.length === 1) {
      if (codings[0]!.toLowerCase() !== 'chunked') return doubt(`coding ${codings[0]}`)
      for (let size = -1; size !== 0; ) {
        const eol = text.indexOf('\r\n', next)
        if (eol < 0) return { whole, doubt: null }
        const word = text.slice(next, eol)
        if (!/^[0-9a-fA-F]{1,8}$/.test(word)) return doubt(`chunk size ${JSON.stringify(word)}`)
        size = Number.parseInt(word, 16)
        next = eol + 2 + size
        if (size === 0) {
          // Fields of a trailer frame nothing (RFC 9110 section 6.5.1).
          const trailerEnd = text.indexOf('\r\n\r\n', eol)
          if (trailerEnd < 0) return { whole, doubt: null }
          next = trailerEnd + 2
        }
        if (next + 2 > text.length) return { whole, doubt: null }
        if (text.slice(next, next + 2) !== '\r\n') return doubt('a chunk that does not end where it says')
        next += 2
      }
    }
    if (next > text.length) return { whole, doubt: null }
    whole.push(line)
    at = next
  }
}
