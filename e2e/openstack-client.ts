import type { Account, OpenStackProgram, SystemAccess } from '@spout/testkit'
import { openstackEnv } from '../tools/dev/env.ts'

/** JSON that the client prints with `-f json`. */
export type Document = Readonly<Record<string, unknown>>

/** Separates tables in the client's own layout: the inside of a document is indented. */
const DOCUMENT = /^(?:\{\n[\s\S]*?^\}|\[\n[\s\S]*?^\]|\[\]|\{\})$/gm

/** Debian's unmodified `openstack` client as one account. */
export class OpenStackClient {
  readonly #program: OpenStackProgram
  readonly #env: Readonly<Record<string, string>>

  constructor(program: OpenStackProgram, { endpoint }: SystemAccess, account: Account) {
    this.#program = program
    this.#env = openstackEnv(endpoint, account)
  }

  /**
   * Runs commands one after the other.
   * @returns the JSON documents that they print, in order
   * @throws Error with the client's words when one fails
   */
  async run(...commands: readonly string[]): Promise<readonly Document[]> {
    const { stdout, stderr } = await this.#program.run([], { input: `${commands.join('\n')}\n`, env: this.#env })
    if (stderr.trim() !== '') throw new Error(`openstack: ${stderr.trim()}\n${commands.join('\n')}`)
    return Array.from(stdout.matchAll(DOCUMENT), ([text]) => JSON.parse(text) as Document)
  }

  /** One command's document. */
  async show(command: string): Promise<Document> {
    const [document] = await this.run(`${command} -f json`)
    if (document === undefined) throw new Error(`openstack ${command} printed nothing`)
    return document
  }

  async list(command: string): Promise<readonly Document[]> {
    return (await this.show(command)) as unknown as readonly Document[]
  }

  /** Error message of a command that must fail. */
  async refused(command: string): Promise<string> {
    const { code, stdout, stderr } = await this.#program.run(command.split(' '), { env: this.#env })
    if (code === 0) throw new Error(`openstack ${command} succeeded: ${stdout}`)
    return stderr.trim()
  }
}
