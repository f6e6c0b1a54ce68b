/** A body that is longer than its reader takes. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'

  constructor(mostBytes: number) {
    super(`the answer is longer than ${mostBytes} bytes`)
  }
}

export interface BodyLimits {
  readonly mostBytes: number
  /** Called with the size of each piece. */
  readonly onBytes?: (bytes: number) => void
}

/**
 * Reads the body of an answer to its end, as UTF-8. A stream of Node.js is destroyed when it is too long.
 * @throws BodyTooLong
 */
export async function bodyText(body: AsyncIterable<Buffer>, { mostBytes, onBytes }: BodyLimits): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    onBytes?.(part.length)
    if (bytes > mostBytes) throw new BodyTooLong(mostBytes)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
