import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('./sequenced_client.py', import.meta.url))

/** A client's TCP connection whose sequence numbers begin where the test wants: the kernel's own grow with the time. */
export class SequencedClient {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.pipe(process.stderr)
  }

  /** @throws Error when it cannot be opened within 10 s */
  static async open(
    namespace: string,
    to: { readonly address: string; readonly port: number },
    { sourcePort, first }: { readonly sourcePort: number; readonly first: number },
  ): Promise<SequencedClient> {
    const words = [to.address, to.port, sourcePort, first].map(String)
    const client = new SequencedClient(spawn('ip', ['netns', 'exec', namespace, 'python3', SCRIPT, ...words]))
    await client.#line()
    return client
  }

  async say(text: string): Promise<string> {
    this.#child.stdin.write(`${text}\n`)
    return this.#line()
  }

  /** Resolves once the kernel has sent the reset. */
  async reset(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin.end()
    await closed
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the connection ended')
    return value
  }
}
