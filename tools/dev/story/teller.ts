import { styleText } from 'node:util'

/** Prints the story of `up` line by line, with the elapsed time. Silent in JSON mode. */
export class Teller {
  readonly #startedAt = performance.now()
  readonly #quiet: boolean
  readonly #colour: boolean

  constructor({ quiet }: { readonly quiet: boolean }) {
    this.#quiet = quiet
    this.#colour = process.stdout.isTTY === true && !process.env.NO_COLOR
  }

  /** Seconds since the start. */
  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  /** Something that has just happened. */
  event(text: string): void {
    this.#write(`${this.#style('green', `${this.seconds.toFixed(1).padStart(5)} s`)}  ${text}`)
  }

  /** A command that was run. */
  command(text: string): void {
    this.#write(`         ${this.#style('cyan', `$ ${text}`)}`)
  }

  /** Output of a command. */
  answer(text: string): void {
    for (const line of text.trimEnd().split('\n')) this.#write(`         ${line}`)
  }

  heading(text: string): void {
    this.#write(`\n${this.#style('bold', text)}`)
  }

  #style(format: 'green' | 'cyan' | 'bold', text: string): string {
    return this.#colour ? styleText(format, text) : text
  }

  #write(line: string): void {
    if (!this.#quiet) process.stdout.write(`${line}\n`)
  }
}
