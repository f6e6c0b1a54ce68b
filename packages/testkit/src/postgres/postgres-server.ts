import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { must, run } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'

export interface PostgresServerOptions {
  /** Settings in addition to ours, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>
  /** A directory for its data, such as a small disk. Default: one of its own. */
  readonly directory?: string
  /** Listens on a port of loopback, too. Over it, users need their passwords. */
  readonly port?: number
  /** PEM: the server's certificate and key, for TLS over the port. */
  readonly tls?: { readonly certificate: string; readonly key: string }
  /** It is a standby of this one. */
  readonly standbyOf?: PostgresServer
}

/** PostgreSQL refuses to run as root. Debian's package makes this user. */
const ACCOUNT = 'postgres'
/** With only a UNIX socket it is no more than a part of the socket's name. */
const SOCKET_PORT = 5432

const programs = (): string => {
  const newest = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const last = newest.at(-1)
  if (last === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  return last
}

/** Debian's PostgreSQL in a directory of its own, by a UNIX socket, as an unprivileged user, with every commit flushed. */
export class PostgresServer {
  /** The directory of its UNIX socket, where everybody is who they say. */
  readonly host: string
  readonly port: number
  readonly user = ACCOUNT
  readonly #options: PostgresServerOptions
  readonly #account: { readonly uid: number; readonly gid: number }
  #process: ChildProcess | null = null

  private constructor(host: string, options: PostgresServerOptions) {
    this.host = host
    this.#options = options
    this.port = options.port ?? SOCKET_PORT
    this.#account = accountOf()
  }

  /** The caller must `dispose` it. */
  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const directory = options.directory ?? mkdtempSync(path.join(tmpdir(), 'spout-pg-'))
    const server = new PostgresServer(directory, options)
    chownSync(directory, server.#account.uid, server.#account.gid)
    chmodSync(directory, 0o755)
    try {
      await server.#initialise()
      await server.resume()
      return server
    } catch (error) {
      await server.dispose()
      throw error
    }
  }

  /** Whether it ended by itself. */
  get hasEnded(): boolean {
    return this.#process === null || this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /** Starts it again, with its data as they were. */
  async resume(): Promise<void> {
    const log = openSync(path.join(this.host, 'log'), 'a')
    const argv = [path.join(programs(), 'postgres'), '-D', this.#data]
    const child = spawn(argv[0]!, argv.slice(1), { ...this.#account, cwd: this.host, stdio: ['ignore', log, log] })
    closeSync(log)
    this.#process = child
    await waitFor(
      async () => {
        if (child.exitCode !== null) throw new Error(`postgres ended: ${this.log().slice(-2000)}`)
        return (
          (await run([path.join(programs(), 'pg_isready'), '-q', '-h', this.host, '-p', String(this.port)])).code === 0
        )
      },
      { what: 'PostgreSQL to accept connections', timeoutMs: 60_000 },
    )
  }

  /** Kills every process of it without warning, as a crash of the machine would. */
  async kill(): Promise<void> {
    const child = this.#process
    if (child?.pid === undefined || this.hasEnded) return
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean)
    await this.#end(child, () => {
      process.kill(child.pid!, 'SIGKILL')
      for (const pid of children) killed(Number(pid))
    })
    // The next start waits for the last of them.
    await waitFor(() => children.every((pid) => !isRunning(pid)), { what: 'the processes of PostgreSQL to be gone' })
  }

  /** Stops it cleanly: sessions are ended. */
  async stop(): Promise<void> {
    const child = this.#process
    if (child !== null) await this.#end(child, () => child.kill('SIGINT'))
  }

  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.host, { recursive: true, force: true })
  }

  /** @returns the rows, a line each, without a header */
  async sql(text: string, database = 'postgres'): Promise<string> {
    const argv = ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', this.host, '-p', String(this.port), '-U', this.user]
    return (await must([path.join(programs(), argv[0]!), ...argv.slice(1), '-d', database, '-c', text])).trim()
  }

  async createDatabase(name: string, options = ''): Promise<void> {
    await this.sql(`CREATE DATABASE ${name} ${options}`)
  }

  /** Runs a program of PostgreSQL, such as `pg_dump`. */
  program(name: string): string {
    return path.join(programs(), name)
  }

  log(): string {
    return readFileSync(path.join(this.host, 'log'), 'utf8')
  }

  get #data(): string {
    return path.join(this.host, 'data')
  }

  async #initialise(): Promise<void> {
    const { standbyOf } = this.#options
    const as = (program: string, ...args: readonly string[]) =>
      execFileSync(path.join(programs(), program), args, { ...this.#account, cwd: this.host, stdio: 'pipe' })
    if (standbyOf === undefined) {
      as('initdb', '-D', this.#data, '-U', ACCOUNT, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
    } else {
      as(
        'pg_basebackup',
        '-R',
        '-X',
        'stream',
        '-c',
        'fast',
        '-h',
        standbyOf.host,
        '-p',
        String(standbyOf.port),
        '-U',
        ACCOUNT,
        '-D',
        this.#data,
      )
    }
    const { port, tls, settings = {} } = this.#options
    const all: Record<string, string> = {
      listen_addresses: port === undefined ? '' : '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: this.host,
      fsync: 'on',
      shared_buffers: '16MB',
      max_connections: '100',
      ...(tls && { ssl: 'on', ssl_cert_file: 'own.crt', ssl_key_file: 'own.key' }),
      ...settings,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(path.join(this.#data, 'postgresql.conf'), lines.join(''))
    if (tls !== undefined) {
      this.#write('own.crt', tls.certificate)
      this.#write('own.key', tls.key)
    }
    if (standbyOf !== undefined || port === undefined) return
    this.#write('pg_hba.conf', 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  }

  #write(name: string, text: string): void {
    const file = path.join(this.#data, name)
    writeFileSync(file, text, { mode: 0o600 })
    chownSync(file, this.#account.uid, this.#account.gid)
  }

  async #end(child: ChildProcess, kill: () => void): Promise<void> {
    this.#process = null
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    kill()
    await ended
  }
}

function accountOf(): { readonly uid: number; readonly gid: number } {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${ACCOUNT}:`))
  if (entry === undefined) throw new Error(`there is no user ${ACCOUNT}: apt-get install postgresql`)
  const [, , user, group] = entry.split(':')
  return { uid: Number(user), gid: Number(group) }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
