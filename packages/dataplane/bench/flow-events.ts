import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const LINE = /^\[(\d+)\.(\d+)\s*\]\s.*\bESTABLISHED\b.*? sport=(\d+) /

/** The times when the kernel of a namespace first reported established connections, by the client's port. */
export class FlowEvents implements AsyncDisposable {
  /** Milliseconds since the epoch. */
  readonly seenMs = new Map<number, number>()
  readonly #child: ChildProcess

  /**
   * Starts to listen. Misses the events of the first milliseconds.
   * @param kind of event: `NEW` where flows are put into the kernel, `UPDATES` where they begin
   */
  constructor(namespace: string, kind: 'NEW' | 'UPDATES') {
    const words = ['-E', '-e', kind, '-p', 'tcp', '-o', 'timestamp', '-b', String(8 << 20)]
    this.#child = spawn('ip', ['netns', 'exec', namespace, 'conntrack', ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const [, seconds, micros, port] = LINE.exec(line) ?? []
      if (port === undefined || this.seenMs.has(Number(port))) return
      this.seenMs.set(Number(port), Number(seconds) * 1_000 + Number(micros) / 1_000)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGTERM')
    await ended
  }
}
