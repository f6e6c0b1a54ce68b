import { type Lab, waitFor } from '@spout/testkit'
import type { Teller } from '../../story/teller.ts'

export interface Curl {
  /** Every name leads to this address. */
  readonly to: string
  readonly url: string
  /** As typed. */
  readonly options?: string
  /** The commands before and after it in a pipe, as typed. */
  readonly from?: string
  readonly into?: string
}

/** The lab's client with curl, as somebody on the internet. It trusts one authority, or none. */
export class OutsideClient {
  readonly #lab: Lab
  readonly #teller: Teller
  readonly #trust: string

  constructor(lab: Lab, teller: Teller, caFile?: string) {
    this.#lab = lab
    this.#teller = teller
    this.#trust = caFile === undefined ? '' : ` --cacert ${caFile}`
  }

  /** The command as it is typed in the repository. */
  typed(curl: Curl): string {
    return this.#line(curl, './dev in client ')
  }

  /** Runs it until its output fits, which is returned. @throws Error with the last output when it never does */
  async until(curl: Curl, fits: RegExp): Promise<string> {
    let output = ''
    const fitting = waitFor(
      async () => {
        const { stdout, stderr } = await this.#lab.run('client', ['sh', '-c', this.#line(curl, '')])
        output = stdout + stderr
        return fits.test(stdout) && stdout
      },
      { what: `an answer of ${curl.url}`, everyMs: 5, timeoutMs: 60_000 },
    )
    return fitting.catch((error: unknown) => {
      throw new Error(`${(error as Error).message}: ${output.trim()}`)
    })
  }

  /** As `until`; shows the command and its output. */
  async show(curl: Curl, fits: RegExp): Promise<string> {
    this.#teller.command(this.typed(curl))
    const output = await this.until(curl, fits)
    this.#teller.answer(output)
    return output
  }

  #line({ to, url, options, from, into }: Curl, where: string): string {
    const curl = [`curl -sS${this.#trust} --connect-to`, `::${to}`, ...(options ? [options] : []), url]
    return [...(from ? [from] : []), where + curl.join(' '), ...(into ? [into] : [])].join(' | ')
  }
}
