import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import type { Agent, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { threadId } from 'node:worker_threads'
import type { NodeCertificate } from '@spout/model'
import { contentIdOf } from '@spout/model/content-id'
import { http } from '@spout/runtime/node-http'
import { HaproxyDriver, type HaproxyDriverOptions } from '../../drivers/haproxy/haproxy-driver.ts'
import { SystemHost } from '../../drivers/haproxy/place/proxy-host.ts'
import type { ProxyPlace } from '../../drivers/haproxy/place/proxy-place.ts'
import { endLeftProxies } from '../../drivers/haproxy/processes/left-proxies.ts'
import { labPrefix } from '../lab-names.ts'

/** For this folder's lab tests: one domain namespace, joined by a veth to the namespace of the test. */

const ID = labPrefix()
// 16,384 networks of four addresses: process ids that are alive together do not meet.
const BLOCK = process.pid % 16_384
const [MEMBERS4, PROXY4] = [1, 2].map((host) => `198.19.${BLOCK >>> 6}.${(BLOCK & 63) * 4 + host}`) as [string, string]
const NET6 = `fd5e:${(process.pid & 0xffff).toString(16)}:${(process.pid >>> 16).toString(16)}:${threadId.toString(16)}:`

const SOURCES4 = `198.18.${(process.pid + threadId) % 250}`
const SOURCES6 = `2001:db8:${(process.pid & 0xffff).toString(16)}:`

/** Where members listen: the test's end. */
export const MEMBER_ADDRESS = MEMBERS4

const run = promisify(execFile)
const must = async ([command = '', ...args]: readonly string[]) => void (await run(command, args))

const silentLog = { debug: () => {}, info: () => {}, warn: () => {} }

export class ProxyLab {
  readonly cgroup = ID
  readonly runDirectory = mkdtempSync(join(tmpdir(), 'spt-'))
  readonly certificateDirectory = mkdtempSync(join(tmpdir(), 'spt-certs-'))
  readonly place: ProxyPlace = {
    name: `${ID}-d7`,
    namespace: `${ID}-d7`,
    address4: PROXY4,
    address6: `${NET6}:2`,
  }
  readonly host: SystemHost
  readonly #drivers: HaproxyDriver[] = []

  private constructor(host: SystemHost) {
    this.host = host
  }

  static async create(): Promise<ProxyLab> {
    const lab = new ProxyLab(await SystemHost.probe(ID))
    try {
      await lab.#build()
      return lab
    } catch (error) {
      await lab.down()
      throw error
    }
  }

  /** Puts a certificate's file where the agent would. */
  storeCertificate(pem: string): NodeCertificate {
    const contentId = contentIdOf(pem)
    writeFileSync(join(this.certificateDirectory, `${contentId}.pem`), pem, { mode: 0o600 })
    return { id: contentId, contentId }
  }

  async #build(): Promise<void> {
    const namespace = `${ID}-d7`
    const inside = ['ip', '-n', namespace]
    await must(['ip', 'netns', 'add', namespace])
    await must(['ip', 'link', 'add', 'name', `${ID}a`, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', namespace])
    await must(['ip', 'addr', 'add', `${MEMBER_ADDRESS}/30`, 'dev', `${ID}a`])
    await must(['ip', 'addr', 'add', `${NET6}:1/126`, 'dev', `${ID}a`, 'nodad'])
    await must(['ip', 'link', 'set', `${ID}a`, 'up'])
    await must([...inside, 'link', 'set', 'lo', 'up'])
    await must([...inside, 'addr', 'add', `${PROXY4}/30`, 'dev', 'uplink'])
    await must([...inside, 'addr', 'add', `${NET6}:2/126`, 'dev', 'uplink', 'nodad'])
    await must([...inside, 'link', 'set', 'uplink', 'up'])
  }

  /** Gives connections to a port to a proxy's port, as the packet filter does. */
  async lead(from: number, to: number): Promise<void> {
    const rule = `meta l4proto tcp tcp dport ${from} tproxy ip to ${this.place.address4}:${to} accept`
    const table = [
      'table inet proxied {',
      'chain proxied {',
      'type filter hook prerouting priority raw',
      rule,
      '}',
      '}',
    ]
    const text = ['add table inet proxied', 'delete table inet proxied', ...table].join('\n')
    await must(['ip', 'netns', 'exec', `${ID}-d7`, 'nft', text])
  }

  /** Gives the test's end one more address to come from: number 2 to 200, or one of a /64 of documentation addresses. */
  async source(number: number, network6: number | null = null): Promise<string> {
    const inside = ['ip', '-n', `${ID}-d7`, 'route', 'replace']
    const address = network6 === null ? `${SOURCES4}.${number}` : `${SOURCES6}${network6.toString(16)}::${number}`
    const length = network6 === null ? 32 : 128
    await must(['ip', 'addr', 'replace', `${address}/${length}`, 'dev', `${ID}a`, 'nodad'])
    await must([...inside, `${address}/${length}`, 'dev', 'uplink'])
    return address
  }

  driver(change: Partial<HaproxyDriverOptions> = {}): HaproxyDriver {
    const driver = new HaproxyDriver({
      place: () => this.place,
      host: this.host,
      log: silentLog,
      ...change,
      options: {
        runDirectory: this.runDirectory,
        certificateDirectory: this.certificateDirectory,
        sweepEveryMs: 20,
        ...change.options,
      },
    })
    this.#drivers.push(driver)
    return driver
  }

  /** Ends what the tests left running. */
  async clear(): Promise<void> {
    for (const driver of this.#drivers.splice(0)) await driver.close()
    await endLeftProxies(this.runDirectory, new Set(), this.host)
  }

  async down(): Promise<void> {
    await this.clear()
    // The kernel removes a namespace later, and its links with it: the next lab of this process has the same names.
    if (existsSync(`/sys/class/net/${ID}a`)) await must(['ip', 'link', 'delete', `${ID}a`])
    if (existsSync(`/run/netns/${ID}-d7`)) await must(['ip', 'netns', 'delete', `${ID}-d7`])
    for (const directory of [this.runDirectory, this.certificateDirectory])
      rmSync(directory, { recursive: true, force: true })
    for (const controller of ['memory', 'pids', 'cpu'])
      await rmdir(`/sys/fs/cgroup/${controller}/${this.cgroup}`).catch(() => {})
  }
}

export interface LabMember {
  readonly name: string
  readonly port: number
  /** Requests or connections that it got. */
  readonly count: () => number
  /** Connections that it got. */
  readonly connections: () => number
  close(): void
}

async function listening(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  return (server.address() as net.AddressInfo).port
}

/** Answers with its name and the headers it got. */
export async function httpMember(name: string): Promise<LabMember> {
  let [count, connections] = [0, 0]
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    count++
    response.setHeader('x-member', name)
    response.setHeader('x-request', `${request.method} ${request.url}`)
    const long = /^\/long\/(\d+)$/.exec(request.url ?? '')
    if (long !== null) response.setHeader('x-long', 'l'.repeat(Number(long[1])))
    if (request.url === '/login')
      response.setHeader('set-cookie', ['theme=dark; Path=/', `JSESSIONID=${name}-${count}; Path=/; HttpOnly`])
    response.end(JSON.stringify(request.headers))
  })
  server.on('connection', () => connections++)
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => socket.destroy())
    // HAProxy checks the answer to a WebSocket's key (RFC 6455 section 4.2.2).
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: websocket']
    socket.write(`${lines.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
    socket.pipe(socket)
  })
  const port = await listening(server)
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { name, port, count: () => count, connections: () => connections, close }
}

/** Echoes what it gets. */
export async function tcpMember(name: string): Promise<LabMember> {
  let count = 0
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    count++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.pipe(socket)
  })
  const port = await listening(server)
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { name, port, count: () => count, connections: () => count, close }
}

export interface Answer {
  readonly status: number
  readonly member: string | undefined
  readonly headers: IncomingHttpHeaders
  /** What the member got. */
  readonly seen: Readonly<Record<string, string>>
}

export interface Ask {
  readonly host: string
  readonly port: number
  /** Default: `/`. */
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly agent?: Agent
  /** The address that it comes from. */
  readonly localAddress?: string
}

/** One request. Like any HTTP client it tries once more when an idle connection was closed under its hands. */
export async function ask(request: Ask): Promise<Answer> {
  const once = () =>
    new Promise<Answer>((resolve, reject) => {
      const outgoing = http.get({ agent: false, ...request, timeout: 30_000 }, (response) => {
        let body = ''
        response.on('data', (part) => {
          body += part
        })
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            member: response.headers['x-member'] as string | undefined,
            headers: response.headers,
            seen: response.statusCode === 200 ? JSON.parse(body) : {},
          }),
        )
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.on('error', (error) => reject(Object.assign(error, { reused: outgoing.reusedSocket })))
    })
  try {
    return await once()
  } catch (error) {
    if ((error as { reused?: boolean }).reused !== true) throw error
    return once()
  }
}

/** A client that keeps one connection and asks without pause until stopped. */
export function askForever(request: Ask): {
  readonly stop: () => Promise<{ asked: number; failures: unknown[] }>
  readonly asked: () => number
} {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const failures: unknown[] = []
  let asked = 0
  let stopping = false
  const loop = (async () => {
    while (!stopping) {
      try {
        const { status } = await ask({ ...request, agent })
        if (status !== 200) failures.push(status)
      } catch (error) {
        failures.push(error)
      }
      asked++
    }
    agent.destroy()
  })()
  const stop = async () => {
    stopping = true
    await loop
    return { asked, failures }
  }
  return { stop, asked: () => asked }
}

/** Opens connections from an address to a proxy, each with these first bytes; those that the proxy closes are counted. */
export function crowd(to: { readonly host: string; readonly port: number }, first: string) {
  const sockets: net.Socket[] = []
  let connected = 0
  let closed = 0
  const enter = (source: string, count: number): void => {
    for (let index = 0; index < count; index++) {
      const socket = net.connect({ ...to, localAddress: source }, () => {
        connected++
        socket.write(first)
      })
      socket.on('error', () => {})
      socket.on('close', () => closed++)
      socket.resume()
      sockets.push(socket)
    }
  }
  return {
    enter,
    connected: () => connected,
    closed: () => closed,
    /** Those that neither are open nor were closed again. */
    pending: () => sockets.filter((socket) => socket.connecting).length,
    /** One more byte on each that is open. */
    drip: (byte: string) => {
      for (const socket of sockets) if (!socket.destroyed && !socket.connecting) socket.write(byte)
    },
    end: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A TCP connection whose received text is kept. */
export async function dial(host: string, port: number) {
  const socket = net.connect({ host, port })
  let received = ''
  let closed = false
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve())
    socket.once('close', () => resolve())
  })
  return {
    write: (text: string) => socket.write(text),
    received: () => received,
    closed: () => closed,
    end: () => socket.destroy(),
  }
}
