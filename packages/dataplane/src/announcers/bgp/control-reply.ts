/** BIRD's reply to one command. */
export interface ControlReply {
  /** Code of its last line: 0 to 7999 done, 8000 to 8999 refused, 9000 and above not understood. */
  readonly code: number
  readonly lines: readonly ReplyLine[]
}

export interface ReplyLine {
  /** Kind of the line: 1002 a protocol, 1006 its details. */
  readonly code: number
  readonly text: string
}

export const isRefusal = ({ code }: ControlReply): boolean => code >= 8000

/** The text of the reply. */
export const replyText = ({ lines }: ControlReply): string =>
  lines
    .map(({ text }) => text.trim())
    .filter((text) => text !== '' && !text.startsWith('Reading configuration from'))
    .join('; ')

/**
 * Splits the stream of a control socket into replies. `CODE-text` is a line with more to come, ` text` another one of
 * the same code, `CODE text` the last. Invalid lines are skipped; never throws.
 */
export class ReplyReader {
  #rest = ''
  #lines: ReplyLine[] = []
  #code = 0

  /** @returns the replies that this text completes */
  read(text: string): readonly ControlReply[] {
    const replies: ControlReply[] = []
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const coded = /^([0-9]{4})([- ])(.*)$/.exec(line)
      if (coded !== null) this.#code = Number(coded[1])
      else if (!line.startsWith(' ')) continue
      this.#lines.push({ code: this.#code, text: coded === null ? line.slice(1) : (coded[3] ?? '') })
      if (coded?.[2] !== ' ') continue
      replies.push({ code: this.#code, lines: this.#lines })
      this.#lines = []
    }
    return replies
  }
}
