import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'

const TIMEOUT_MS = 5000
const MOST_OUTPUT_BYTES = 256 * 1024

/**
 * Runs `openssl` with its input, its output and a passphrase in pipes: nothing of a key is in a file or an argument.
 * Bytes of tenants are read in a process of their own, at the lowest priority and not for long, since they may ask for
 * billions of rounds of key derivation.
 * @param args ours alone; `fd:3` means the passphrase
 * @returns its output; null if it failed or took too long
 */
export const opensslPipe = (
  args: readonly string[],
  { input, passphrase = '' }: { readonly input: Buffer; readonly passphrase?: string },
): Promise<string | null> =>
  new Promise((resolve) => {
    const child = spawn('openssl', args, {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      env: {},
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    const output: Buffer[] = []
    let bytes = 0
    child.stdout?.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > MOST_OUTPUT_BYTES) child.kill('SIGKILL')
      else output.push(piece)
    })
    // A program that ends early reads no more of its input.
    const ignore = () => {}
    child.stdin?.on('error', ignore).end(input)
    const secret = child.stdio[3]
    if (secret !== null && secret !== undefined && 'end' in secret) secret.on('error', ignore).end(`${passphrase}\n`)
    child.on('error', () => resolve(null))
    child.on('close', (code) => resolve(code === 0 ? Buffer.concat(output).toString('utf8') : null))
    if (child.pid !== undefined) lower(child.pid)
  })

function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // The process has ended already.
  }
}
