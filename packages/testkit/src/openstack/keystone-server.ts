import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { must } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'
import { environmentOf, PYTHON, unpackedPackages } from './debian-packages.ts'

const PACKAGES = ['python3-keystone', 'uwsgi-core', 'uwsgi-plugin-python3']
const SETUP = path.resolve(import.meta.dirname, 'keystone-setup.py')
const START_MS = 600_000
/** The longest that a hook waits for it: a machine that is shared downloads and unpacks slowly, too. */
export const LONGEST_KEYSTONE_START_MS = 30 * 60_000

/**
 * The real Keystone of Debian 12 (22.0) on an SQLite database, with the administrator `admin` in project `admin`. Its
 * port is a listener of this process in front of its socket, so that it can be out of reach for a while. The first start
 * in a checkout downloads 17 MB of packages; any takes a quarter of a minute.
 */
export class KeystoneServer implements AsyncDisposable {
  readonly adminPassword = 'a-password-for-keystone'
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'spout-keystone-'))
  readonly #sockets = new Set<Socket>()
  #front: Server | null = null
  #port = 0
  #child: ChildProcess | null = null

  static async start(): Promise<KeystoneServer> {
    const server = new KeystoneServer()
    try {
      await server.#start()
      return server
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Of the identity API, with `/v3`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/v3`
  }

  /** Ends all connections, and refuses new ones. */
  async goAway(): Promise<void> {
    const closed = this.#front === null ? null : once(this.#front, 'close')
    this.#front?.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async comeBack(): Promise<void> {
    this.#front = createServer((client) => {
      const inside = connect(this.#socket)
      for (const socket of [client, inside]) {
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
      }
      pipeline(client, inside, () => {})
      pipeline(inside, client, () => {})
    })
    this.#front.listen(this.#port, '127.0.0.1')
    await once(this.#front, 'listening')
    this.#port = (this.#front.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway()
    const child = this.#child
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #socket(): string {
    return path.join(this.#directory, 'keystone.sock')
  }

  async #start(): Promise<void> {
    const root = await unpackedPackages('keystone', PACKAGES)
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', ...environmentOf(root) }
    const settings = path.join(this.#directory, 'keystone.conf')
    mkdirSync(path.join(this.#directory, 'keys'), { mode: 0o700 })
    writeFileSync(settings, keystoneSettings(this.#directory))
    await this.comeBack()
    await must([PYTHON, SETUP, this.#directory, this.url, this.adminPassword], { env, timeoutMs: START_MS })
    const ini = path.join(this.#directory, 'uwsgi.ini')
    writeFileSync(ini, uwsgiSettings({ root, settings, socket: this.#socket }))
    // It must not outlive a test that is killed.
    const argv = ['--pdeathsig', 'TERM', path.join(root, 'usr/bin/uwsgi-core'), '--ini', ini]
    this.#child = spawn('/usr/bin/setpriv', argv, { env, stdio: 'ignore' })
    await waitFor(async () => (await fetch(this.url).catch(() => null))?.ok === true, {
      what: 'Keystone to answer',
      timeoutMs: START_MS,
      everyMs: 100,
    })
  }
}

const keystoneSettings = (directory: string): string => `
[database]
connection = sqlite:///${directory}/keystone.db
sqlite_synchronous = false
[fernet_tokens]
key_repository = ${directory}/keys
[fernet_receipts]
key_repository = ${directory}/keys
[credential]
key_repository = ${directory}/keys
[cache]
enabled = true
backend = dogpile.cache.memory
[identity]
password_hash_rounds = 4
`

/** Clients are told that a connection ends, which they would else count as an error. */
const uwsgiSettings = (given: {
  readonly root: string
  readonly settings: string
  readonly socket: string
}): string => `
[uwsgi]
plugins-dir = ${given.root}/usr/lib/uwsgi/plugins
plugins = python311
buffer-size = 65535
socket-timeout = 60
post-buffering = 65536
master = true
no-orphans = true
die-on-term = true
enable-threads = true
processes = 1
threads = 4
disable-logging = true
add-header = Connection: close
wsgi-file = ${given.root}/usr/bin/keystone-wsgi-public
pyargv = --config-file ${given.settings}
http-socket = ${given.socket}
`
