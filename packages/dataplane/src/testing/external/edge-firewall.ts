import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { execOk } from '@spout/sys'

const SCRIPT = fileURLToPath(new URL('./edge_firewall.py', import.meta.url))

/** The firewall of `edge_firewall.py` in a namespace, which stands for a device. */
export class EdgeFirewall {
  readonly #namespace: string
  readonly #socket: string
  #process: ChildProcess | null = null

  constructor(namespace: string, socket: string) {
    this.#namespace = namespace
    this.#socket = socket
  }

  /** Starts the driver's process. What the device holds is as it was. */
  async start(): Promise<void> {
    const argv = ['netns', 'exec', this.#namespace, 'python3', SCRIPT, this.#socket]
    const child = spawn('ip', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    for await (const line of createInterface(child.stdout)) if (line === 'ready') return
    throw new Error('the firewall did not start')
  }

  /** Kills the driver's process. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** What the device has open, sorted: `198.51.100.21 . tcp . 80`. */
  async open(): Promise<readonly string[]> {
    const { nftables } = JSON.parse(await this.nft('-j list set inet edge open4')) as {
      readonly nftables: readonly {
        readonly set?: { readonly elem?: readonly { readonly concat: readonly unknown[] }[] }
      }[]
    }
    return nftables.flatMap(({ set }) => (set?.elem ?? []).map(({ concat }) => concat.join(' . '))).sort()
  }

  /** Runs `nft` on the device. */
  nft(command: string): Promise<string> {
    return execOk(['ip', 'netns', 'exec', this.#namespace, 'nft', ...command.split(' ')])
  }
}
