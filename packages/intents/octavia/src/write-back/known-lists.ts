import { WrittenAnswer, type WrittenJson } from '@spout/runtime'

/** The limit for all lists together. */
const MOST_BYTES = 16 * 1024 * 1024
/**
 * A longer list, of more than some 500 load balancers, is made in pieces. Otherwise slow readers would keep much in
 * memory.
 */
const MOST_CHARACTERS = 512 * 1024

interface Known {
  readonly items: readonly WrittenJson[]
  readonly rest: string
  readonly answer: WrittenAnswer
  readonly bytes: number
}

/**
 * Lists as bytes that all their readers share, the latest one of each project. A list is another one, and is written
 * again, once one of its items is another text, is gone or has moved, or its links differ. Items are compared by
 * identity: what is sent never depends on whose list was kept. The lists that nobody has asked for longest give way.
 */
export class KnownLists {
  readonly #mostBytes: number
  /** By owner. The owner whose list was requested last is last. */
  readonly #known = new Map<string, Known>()
  #bytes = 0

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /**
   * @returns the bytes; null for a long list
   * @param owner a project, or empty for the list of all projects
   * @param rest the other attributes of the answer, as the text of a JSON object that is not empty
   */
  answer(owner: string, name: string, items: readonly WrittenJson[], rest: object): WrittenAnswer | null {
    const known = this.#known.get(owner)
    const text = `],${JSON.stringify(rest).slice(1)}`
    if (known !== undefined) this.#known.delete(owner)
    if (known !== undefined && known.rest === text && isSame(known.items, items)) {
      this.#known.set(owner, known)
      return known.answer
    }
    this.#bytes -= known?.bytes ?? 0
    if (items.reduce((sum, item) => sum + item.text.length, 0) > MOST_CHARACTERS) return null
    const body = Buffer.from(`{${JSON.stringify(name)}:[${items.map((item) => item.text).join(',')}${text}`)
    const answer = new WrittenAnswer(body)
    this.#keep(owner, { items, rest: text, answer, bytes: body.length })
    return answer
  }

  #keep(owner: string, one: Known): void {
    if (one.bytes > this.#mostBytes) return
    this.#known.set(owner, one)
    this.#bytes += one.bytes
    for (const [oldest, { bytes }] of this.#known) {
      if (this.#bytes <= this.#mostBytes) return
      this.#known.delete(oldest)
      this.#bytes -= bytes
    }
  }
}

const isSame = (left: readonly WrittenJson[], right: readonly WrittenJson[]): boolean =>
  left.length === right.length && left.every((item, at) => item === right[at])
