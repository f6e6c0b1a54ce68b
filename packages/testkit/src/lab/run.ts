import { type ExecFileException, execFile, spawn } from 'node:child_process'

export interface RunResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a command without a shell and returns its output, whatever its exit code. One that is ended by `timeoutMs` has
 * code 124, and the last line of its stderr says so.
 */
export const run = (argv: readonly string[], { input, timeoutMs = 60_000, env }: RunOptions = {}): Promise<RunResult> =>
  new Promise((resolve) => {
    const [command = '', ...args] = argv
    const options = {
      timeout: timeoutMs,
      maxBuffer: 64 * 1024 * 1024,
      ...(env ? { env: { ...process.env, ...env } } : {}),
    }
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const failed = error ? (typeof error.code === 'number' ? error.code : 124) : 0
      const said = stderr || (error && stdout === '' ? error.message : '')
      resolve({ code: failed, stdout, stderr: isLate(error) ? `${said}\nended after ${timeoutMs / 1000} s` : said })
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })

const isLate = (error: ExecFileException | null): boolean => error?.killed === true && error.signal === 'SIGTERM'

/** Runs a command that must succeed. @throws Error with its output otherwise */
export async function must(argv: readonly string[], options?: RunOptions): Promise<string> {
  const result = await run(argv, options)
  if (result.code !== 0)
    throw new Error(`${argv.join(' ')}: exit ${result.code}: ${result.stderr.trim() || result.stdout.trim()}`)
  return result.stdout
}

/** Runs a command on this terminal and returns its exit code. */
export const runInteractive = (argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve) => {
    const [command = '', ...args] = argv
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`)
      resolve(127)
    })
    child.on('exit', (code, signal) => resolve(signal ? 128 : (code ?? 1)))
  })
