import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { run } from '../domain/run.ts'

const SCRIPT = fileURLToPath(new URL('./sctp_peer.py', import.meta.url))

/** What came of an association: from whom the answers were, and the member's line (`red1 10.9.0.9`). */
export type SctpAnswer =
  | { readonly from: string; readonly port: number; readonly line: string }
  | { readonly error: string; readonly waitedFor: string }

/** Opens an association and sends data over it. The kernel needs no SCTP for it. @param source an address of the host */
export async function askSctp(
  namespace: string,
  address: string,
  port: number,
  sourcePort: number,
  source?: string,
): Promise<SctpAnswer> {
  const words = ['ask', address, String(port), String(sourcePort), ...(source === undefined ? [] : [source])]
  return JSON.parse(await run('ip', ['netns', 'exec', namespace, 'python3', SCRIPT, ...words])) as SctpAnswer
}

/** A member that takes associations at a port: over IPv4 and IPv6, or at these addresses alone. */
export class SctpServer implements Disposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(
    namespace: string,
    name: string,
    port: number,
    addresses: readonly string[] = [],
  ): Promise<SctpServer> {
    const words = ['serve', name, String(port), ...addresses]
    const child = spawn('ip', ['netns', 'exec', namespace, 'python3', SCRIPT, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    return new SctpServer(child)
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
