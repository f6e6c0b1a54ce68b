import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { waitFor } from '../lab/wait-for.ts'
import { environmentOf, unpackedPackages } from '../openstack/debian-packages.ts'

/** A key that may change the zones. */
export interface NameServerKey {
  readonly name: string
  readonly algorithm: 'hmac-sha256' | 'hmac-sha512'
  /** Base64. */
  readonly secret: string
}

export interface NameServerZone {
  readonly name: string
  /** Records that are there from the start, as lines of a zone file. */
  readonly records?: readonly string[]
}

/** The bytes of a secret, as long as the longest hash. */
const SECRET_BYTES = 64

const newKey = (name: string, algorithm: NameServerKey['algorithm']): NameServerKey => ({
  ...{ name, algorithm, secret: randomBytes(SECRET_BYTES).toString('base64') },
})

let started = 0

/**
 * A port of this process, below those that the kernel gives to sockets without one: a port that was free a moment ago may be
 * taken when BIND binds it, or when it starts again. Processes of a run have ids close to each other.
 */
const ownPort = (): number => 20_000 + ((process.pid + 4_001 * started++) % 12_000)

/** Debian's BIND 9 on loopback, in a directory of its own, with zones that its keys may change. */
export class TestNameServer {
  readonly host = '127.0.0.1'
  readonly port = ownPort()
  readonly keys: readonly NameServerKey[]
  readonly #root: string
  readonly #directory: string
  #process: ChildProcess | null = null

  private constructor(root: string, directory: string, keys: readonly NameServerKey[]) {
    this.#root = root
    this.#directory = directory
    this.keys = keys
  }

  /** The first start in a checkout downloads the packages. */
  static async start(zones: readonly NameServerZone[]): Promise<TestNameServer> {
    const root = await unpackedPackages('bind9', ['bind9'])
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-bind9-'))
    const keys = [newKey('spout-key', 'hmac-sha256'), newKey('spout-key-512', 'hmac-sha512')]
    const server = new TestNameServer(root, directory, keys)
    mkdirSync(path.join(directory, 'zones'))
    for (const zone of zones) writeFileSync(server.#zoneFile(zone), zoneText(zone))
    writeFileSync(path.join(directory, 'named.conf'), server.#settings(zones))
    await server.resume()
    return server
  }

  /** Starts it again after `pause`, with the zones as they were. */
  async resume(): Promise<void> {
    const argv = ['-g', '-n', '1', '-c', path.join(this.#directory, 'named.conf')]
    const env = { ...process.env, ...environmentOf(this.#root) }
    const child = spawn(path.join(this.#root, 'usr/sbin/named'), argv, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
    })
    child.stderr.pipe(createWriteStream(path.join(this.#directory, 'log'), { flags: 'a' }))
    await waitFor(
      () => {
        if (child.exitCode !== null) throw new Error(`named ended: ${said.slice(-2000)}`)
        return / running$/m.test(said)
      },
      { what: 'BIND to run' },
    )
  }

  /** Ends the process. Zones and port stay. */
  async pause(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }

  async stop(): Promise<void> {
    await this.pause()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #zoneFile(zone: NameServerZone): string {
    return path.join(this.#directory, 'zones', zone.name)
  }

  #settings(zones: readonly NameServerZone[]): string {
    const names = this.keys.map(({ name }) => `key "${name}";`).join(' ')
    return [
      ...this.keys.map(
        ({ name, algorithm, secret }) => `key "${name}" { algorithm ${algorithm}; secret "${secret}"; };`,
      ),
      'options {',
      `  directory "${this.#directory}"; pid-file "named.pid"; session-keyfile "session.key";`,
      `  listen-on port ${this.port} { ${this.host}; }; listen-on-v6 { none; };`,
      '  recursion no; dnssec-validation no; notify no; allow-query { any; };',
      '};',
      'controls { };',
      ...zones.map(
        (zone) =>
          `zone "${zone.name}" { type primary; file "${this.#zoneFile(zone)}"; allow-update { ${names} }; allow-transfer { ${names} }; };`,
      ),
      '',
    ].join('\n')
  }
}

const zoneText = ({ records = [] }: NameServerZone): string =>
  ['$TTL 60', '@ IN SOA ns admin 1 3600 600 86400 60', '@ IN NS ns', 'ns IN A 127.0.0.1', ...records, ''].join('\n')
