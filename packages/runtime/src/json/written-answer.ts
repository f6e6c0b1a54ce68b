/**
 * A whole answer in JSON that was written before: a writer that knows it sends it as it is. Many answers may share one.
 */
export class WrittenAnswer {
  readonly body: string | Buffer
  /** The object that it shows, for those who must know which it is without reading the text. */
  readonly object: object | null

  /** @param body JSON; bytes are UTF-8, and must not change any more */
  constructor(body: string | Buffer, object: object | null = null) {
    this.body = body
    this.object = object
  }

  /** For a writer that does not know it. */
  toJSON(): unknown {
    return JSON.parse(this.body.toString())
  }
}
