import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const MOST_STDERR = 4000

/**
 * Starts a program of a lab and waits until it says that it is ready: its first word on standard output.
 * @throws Error at once when it ends before, with what it said on standard error
 */
export async function startServers(argv: readonly [string, ...string[]]): Promise<ChildProcess> {
  const [file, ...args] = argv
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let ready = false
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (ready) process.stderr.write(text)
    else said = (said + text).slice(-MOST_STDERR)
  })
  // `close`, not `exit`: by then all that it said was read.
  const ended = once(child, 'close').then(([code, signal]) => {
    throw new Error(`${argv.join(' ')} ended before it was ready (${signal ?? code}): ${said.trim()}`)
  })
  await Promise.race([once(child.stdout, 'data'), ended])
  ready = true
  ended.catch(() => {})
  // What it says later is nobody's, but must not fill the pipe.
  child.stdout.resume()
  return child
}
