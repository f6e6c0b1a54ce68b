import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { waitFor } from '@spout/testkit'

const LINE = /^\[(\d+)\.(\d+)\s*\]\s.*\bESTABLISHED\b.*? sport=(\d+) /

/** When the kernel of a namespace first told of an established connection, by the client's port. */
export class FlowEvents implements AsyncDisposable {
  /** Milliseconds since the epoch. */
  readonly seenMs = new Map<number, number>()
  readonly #child: ChildProcess

  private constructor(namespace: string, kind: 'NEW' | 'UPDATES') {
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

  /**
   * Resolves once the kernel sends events.
   * @param kind of event: `NEW` where flows are put into the kernel, `UPDATES` where they begin
   */
  static async start(namespace: string, kind: 'NEW' | 'UPDATES'): Promise<FlowEvents> {
    const events = new FlowEvents(namespace, kind)
    await waitFor(() => subscribes(events.#child.pid!), { what: 'conntrack to listen' })
    return events
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.kill('SIGTERM')
    await ended
  }
}

/** Whether a process has joined a multicast group of NETLINK_NETFILTER (12). */
async function subscribes(pid: number): Promise<boolean> {
  const sockets = (await readFile(`/proc/${pid}/net/netlink`, 'utf8'))
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return sockets.some(
    ([, protocol, port, groups = '']) => protocol === '12' && port === `${pid}` && /[1-9a-f]/.test(groups),
  )
}
