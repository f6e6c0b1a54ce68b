import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { execOk } from '@spout/sys'
import { startServers } from './server-process.ts'

const SCRIPT = fileURLToPath(new URL('./sctp_peer.py', import.meta.url))

/** What came of an association: from whom the answers were, and the member's line (`red1 10.9.0.9`). */
export type SctpAnswer =
  | { readonly from: string; readonly port: number; readonly line: string }
  | { readonly error: string; readonly waitedFor: string }

/** For an answer that is to come: sixteen scripts at once share the machine with other tests. */
const ANSWERED_S = 20
/** For one that is not to come. */
export const SILENT_S = 3

/**
 * Opens an association and sends data over it. The kernel needs no SCTP for it.
 * `withinS`: how long each answer is waited for, in seconds; `source`: an address of the host
 */
export async function askSctp(
  namespace: string,
  address: string,
  port: number,
  sourcePort: number,
  { withinS = ANSWERED_S, source }: { readonly withinS?: number; readonly source?: string } = {},
): Promise<SctpAnswer> {
  const words = ['ask', address, ...[port, sourcePort, withinS].map(String), ...(source === undefined ? [] : [source])]
  const argv = ['ip', 'netns', 'exec', namespace, 'python3', SCRIPT, ...words] as const
  return JSON.parse(await execOk(argv, { timeoutMs: 90_000 })) as SctpAnswer
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
    return new SctpServer(await startServers(['ip', 'netns', 'exec', namespace, 'python3', SCRIPT, ...words]))
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
