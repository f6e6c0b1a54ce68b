/** A value as JSON text that many answers repeat: a writer that knows it copies the text. */
export class WrittenJson {
  readonly text: string

  /** @param value plain data */
  constructor(value: object) {
    this.text = JSON.stringify(value)
  }

  /** For a writer that does not know it. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
