/** What BIRD answered to one command. */
export interface ControlReply {
  /** Of its last line: 0 to 7999 is done, 8000 to 8999 was refused, 9000 and above was not understood. */
  readonly code: number
  readonly lines: readonly ReplyLine[]
}

export interface ReplyLine {
  /** What kind of line it is: 1002 a protocol, 1006 its details. */
  readonly code: number
  readonly text: string
}

export const isRefusal = ({ code }: ControlReply): boolean => code >= 8000

/** The words of a refusal, or of what was done. */
export const replyText = ({ lines }: ControlReply): string =>
  lines
    .map(({ text }) => text.trim())
    .filter((text) => text !== '' && !text.startsWith('Reading configuration from'))
    .join('; ')

/**
 * Cuts the stream of a control socket into replies. `CODE-text` is a line with more to come, ` text` another of the same
 * code, `CODE text` the last. What makes no sense is skipped: it never throws.
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
