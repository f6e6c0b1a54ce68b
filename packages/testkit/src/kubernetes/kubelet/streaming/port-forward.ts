import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import type { SpdyStream } from './connection.ts'

const PROGRAM = path.join(import.meta.dirname, 'connect-program.ts')

/** Opens connections of one client to ports of a pod: a stream for data and one for errors each. */
export class PortForward {
  readonly #namespace: string
  /** Streams whose partner has not come, by the number of their connection. */
  readonly #waiting = new Map<string, SpdyStream>()
  readonly #children = new Set<ChildProcess>()

  /** @param namespace network namespace of the pod */
  constructor(namespace: string) {
    this.#namespace = namespace
  }

  add(stream: SpdyStream): void {
    const id = stream.headers.get('requestid') ?? ''
    const partner = this.#waiting.get(id)
    if (partner === undefined) {
      this.#waiting.set(id, stream)
      return
    }
    this.#waiting.delete(id)
    const isData = stream.headers.get('streamtype') === 'data'
    this.#connect(isData ? stream : partner, isData ? partner : stream)
  }

  /** Breaks all connections. */
  end(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #connect(data: SpdyStream, errors: SpdyStream): void {
    const port = data.headers.get('port') ?? ''
    const argv = [`--net=/run/netns/${this.#namespace}`, '--', process.execPath, PROGRAM, port]
    const child = spawn('nsenter', argv, { stdio: 'pipe' })
    this.#children.add(child)
    let problem = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      problem += text
    })
    child.stdin.on('error', () => {})
    data.pipe(child.stdin)
    child.stdout.pipe(data)
    data.once('close', () => child.kill('SIGKILL'))
    child.once('error', ({ message }) => errors.end(message))
    child.once('close', () => {
      this.#children.delete(child)
      errors.end(problem.trim())
    })
  }
}
