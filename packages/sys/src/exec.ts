import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'

export interface ExecOptions {
  /** The command is killed after this time. Default 10 s. */
  readonly timeoutMs?: number
  /** Written to the command's stdin; without it stdin is empty. */
  readonly input?: string | Uint8Array
  /** Maximum that is kept of each output stream; the rest is dropped and counted. Default 1 MiB. */
  readonly maxOutputBytes?: number
  readonly cwd?: string
  /** Open files of this process that the command has as 3, 4 and so on. Default none. */
  readonly descriptors?: readonly number[]
  /** The whole environment. Default: a plain PATH and the C locale. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ExecResult {
  /** Exit status; null if a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
  /** Bytes of output that were dropped. */
  readonly droppedBytes: number
}

/** A command could not be run, or did not end with status 0. */
export class ExecError extends Error {
  override readonly name = 'ExecError'
  readonly argv: readonly string[]
  readonly result: ExecResult | null

  constructor(argv: readonly string[], why: string, result: ExecResult | null, options?: ErrorOptions) {
    super(`${argv[0]}: ${why}`, options)
    this.argv = argv
    this.result = result
  }
}

const DEFAULT_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_OUTPUT_BYTES = 1 << 20

/**
 * Runs a command without a shell and waits for its end, whatever its status.
 * @throws ExecError if it cannot be started
 */
export function exec(argv: readonly [string, ...string[]], options: ExecOptions = {}): Promise<ExecResult> {
  const [file, ...args] = argv
  const limit = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env ?? DEFAULT_ENV,
      stdio: ['pipe', 'pipe', 'pipe', ...(options.descriptors ?? [])],
    }) as ChildProcessWithoutNullStreams
    const stdout = new BoundedOutput(limit)
    const stderr = new BoundedOutput(limit)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
      // A grandchild may hold the pipes open for ever. Its output is not waited for.
      child.stdout.destroy()
      child.stderr.destroy()
    }, options.timeoutMs ?? DEFAULT_TIMEOUT_MS)
    child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk))
    // A command may end without reading its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(new ExecError(argv, error.message, null, { cause: error }))
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      const droppedBytes = stdout.droppedBytes + stderr.droppedBytes
      resolve({ code, signal, timedOut, stdout: stdout.text(), stderr: stderr.text(), droppedBytes })
    })
  })
}

/**
 * Runs a command and resolves with its output.
 * @throws ExecError unless it ends with status 0; the message contains its standard error
 */
export async function execOk(argv: readonly [string, ...string[]], options: ExecOptions = {}): Promise<string> {
  const result = await exec(argv, options)
  if (result.code === 0) return result.stdout
  const ended = result.timedOut ? 'timed out' : `exit ${result.signal ?? result.code}`
  throw new ExecError(argv, [ended, result.stderr.trim()].filter(Boolean).join(': '), result)
}

class BoundedOutput {
  readonly #limit: number
  readonly #chunks: Buffer[] = []
  #kept = 0
  droppedBytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(chunk: Buffer): void {
    const taken = chunk.subarray(0, this.#limit - this.#kept)
    if (taken.length > 0) this.#chunks.push(taken)
    this.#kept += taken.length
    this.droppedBytes += chunk.length - taken.length
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
