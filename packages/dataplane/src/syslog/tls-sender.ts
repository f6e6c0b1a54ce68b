import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Duplex, type Readable, type Writable } from 'node:stream'
import tls from 'node:tls'
import type { NodeSyslog, NodeSyslogTls } from '@spout/model/node-state'
import { Backoff, type Timer } from '@spout/runtime'
import type { SyslogSenderOptions } from './syslog-sender.ts'

export interface TlsSenderOptions extends SyslogSenderOptions {
  readonly target: NodeSyslog & { readonly tls: NodeSyslogTls }
  /** The file of a certificate of the node, by its content id. */
  readonly certificateFile: (contentId: string) => string
}

/** Messages that wait, with those that are on their way. The pipes have room for 64 kB more. */
const MOST_WAITING_BYTES = 256 * 1024
/**
 * Most bytes of one write. After a broken connection, what was in flight is sent again from the start of its first
 * message.
 */
const BATCH_BYTES = 32 * 1024
const PAUSES = { firstMs: 1_000, mostMs: 8_000 }
/** With TLS 1.3 the receiver refuses our certificate after the handshake has ended for us. */
const SETTLED_AFTER_MS = 300
const HANDSHAKE_WITHIN_MS = 10_000
/** Time to send what is queued when it ends. */
const END_WITHIN_MS = 2_000

type Relay = ChildProcessByStdio<Writable, Readable, Readable>

interface Connection {
  readonly relay: Relay
  readonly socket: tls.TLSSocket
  /** Whether the connection accepts messages. */
  settled: boolean
  /** How many bytes and messages of the queue are on their way. */
  flying: number
}

/**
 * Sends messages to one syslog receiver over TLS (RFC 5425). A process in the receiver's network carries the bytes;
 * keys stay here. Who sends never waits.
 */
export class TlsSender {
  readonly #options: TlsSenderOptions
  readonly #queue: string[] = []
  readonly #backoff = new Backoff(PAUSES)
  #bytes = 0
  #connection: Connection | null = null
  #opening: Promise<void> | null = null
  #again: Timer | null = null
  #trouble: string | null = null
  #closed = false
  #drained: (() => void) | null = null

  constructor(options: TlsSenderOptions) {
    this.#options = options
  }

  /** Why it sends nothing now; null: it does, or has nothing to send. */
  get trouble(): string | null {
    return this.#trouble
  }

  /** @param message printable ASCII */
  send(message: string): void {
    const frame = `${message.length} ${message}`
    if (this.#closed || this.#bytes + frame.length > MOST_WAITING_BYTES) {
      this.#options.count('lost', 1)
      return
    }
    this.#queue.push(frame)
    this.#bytes += frame.length
    this.#goOn()
  }

  /** Ends the connection once it sent what it has, or could not in time. */
  async close(): Promise<void> {
    if (this.#queue.length > 0 && this.#trouble === null) {
      const empty = new Promise<void>((resolve) => {
        this.#drained = resolve
      })
      await Promise.race([empty, new Promise((resolve) => setTimeout(resolve, END_WITHIN_MS))])
    }
    this.#closed = true
    this.#connection?.socket.end()
    await this.#leave(END_WITHIN_MS)
  }

  /** Ends the connection at once. */
  async kill(): Promise<void> {
    this.#closed = true
    await this.#leave(0)
  }

  /** Ends the connection. What was not sent is lost. */
  async #leave(withinMs: number): Promise<void> {
    this.#again?.clear()
    await this.#opening
    const relay = this.#connection?.relay
    if (relay !== undefined && relay.exitCode === null && relay.signalCode === null) {
      const ended = new Promise((resolve) => relay.once('close', resolve))
      const timer = setTimeout(() => relay.kill('SIGKILL'), withinMs)
      await ended
      clearTimeout(timer)
    }
    this.#options.count('lost', this.#queue.length)
    this.#queue.length = 0
    this.#bytes = 0
  }

  #goOn(): void {
    if (this.#connection?.settled) this.#flush(this.#connection)
    else if (this.#connection === null && this.#opening === null && this.#again === null && !this.#closed) {
      this.#opening = this.#open()
        .catch((error: unknown) => this.#broke(null, textOf(error)))
        .finally(() => {
          this.#opening = null
        })
    }
  }

  async #open(): Promise<void> {
    const { executable, netns, uid, target, certificateFile } = this.#options
    const { authorities, certificate, serverName } = target.tls
    const ca = await readFile(certificateFile(authorities.contentId), 'utf8')
    const own = certificate === null ? null : await readFile(certificateFile(certificate.contentId), 'utf8')
    if (this.#closed) return
    const argv = [netns, String(uid), 'tls', target.address, String(target.port)]
    const relay = spawn(executable, argv, { stdio: ['pipe', 'pipe', 'pipe'], env: {} })
    let [said, failure]: [string, unknown] = ['', null]
    relay.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 200)
    })
    const wire = wireOf(relay)
    const socket = tls.connect({
      ...{ socket: wire, ca, minVersion: 'TLSv1.2', allowPartialTrustChain: true },
      // The receiver is who its authority says: a name, or the address.
      host: serverName ?? target.address,
      ...(serverName !== null && isIP(serverName) === 0 ? { servername: serverName } : {}),
      ...(own === null ? {} : { cert: own, key: own }),
    })
    const connection: Connection = { relay, socket, settled: false, flying: 0 }
    this.#connection = connection
    const fail = (why: string): void => this.#broke(connection, why)
    const settle = (): void => this.#settle(connection)
    const late = this.#options.clock.setTimer(() => fail('no TLS handshake in time'), HANDSHAKE_WITHIN_MS)
    socket.once('secureConnect', () => {
      late.clear()
      this.#options.clock.setTimer(settle, SETTLED_AFTER_MS)
    })
    // A receiver sends nothing, but the end of the connection is noticed only by reading.
    socket.resume()
    for (const stream of [relay.stdin, relay.stdout, wire]) stream.on('error', () => undefined)
    socket.on('error', (error) => {
      failure ??= error
      relay.kill('SIGKILL')
    })
    relay.on('error', (error) => fail(textOf(error)))
    relay.once('close', () => {
      late.clear()
      fail(whyEnded(failure, said.trim()))
    })
  }

  #settle(connection: Connection): void {
    if (this.#connection !== connection) return
    connection.settled = true
    this.#trouble = null
    this.#backoff.reset()
    this.#flush(connection)
  }

  #flush(connection: Connection): void {
    if (connection.flying > 0 || this.#queue.length === 0) return
    let [count, bytes] = [0, 0]
    while (count < this.#queue.length && (count === 0 || bytes + this.#queue[count]!.length <= BATCH_BYTES))
      bytes += this.#queue[count++]!.length
    connection.flying = count
    connection.socket.write(this.#queue.slice(0, count).join(''), 'latin1', (error) => {
      if (error || this.#connection !== connection) return
      connection.flying = 0
      this.#queue.splice(0, count)
      this.#bytes -= bytes
      this.#options.count('sent', count)
      if (this.#queue.length > 0) this.#flush(connection)
      else this.#drained?.()
    })
  }

  /** @param connection null: there was none yet */
  #broke(connection: Connection | null, why: string): void {
    if (this.#connection !== connection) return
    const { clock, log, target } = this.#options
    this.#connection = null
    connection?.relay.kill('SIGKILL')
    connection?.socket.destroy()
    if (this.#closed) return
    if (this.#trouble !== why) log.warn({ receiver: target.address, why }, 'a syslog receiver cannot be reached')
    this.#trouble = why
    this.#again = clock.setTimer(() => {
      this.#again = null
      if (this.#queue.length > 0) this.#goOn()
    }, this.#backoff.next())
  }
}

/** The bytes of the connection, as one stream for both ways. */
const wireOf = ({ stdin, stdout }: Relay): Duplex => {
  const wire = new Duplex({
    read: () => stdout.resume(),
    write: (bytes: Buffer, _, done) => void stdin.write(bytes, done),
    final: (done) => void stdin.end(done),
    destroy: (error, done) => {
      stdin.destroy()
      stdout.destroy()
      done(error)
    },
  })
  stdout.on('data', (bytes: Buffer) => {
    if (!wire.push(bytes)) stdout.pause()
  })
  stdout.on('end', () => wire.push(null))
  return wire
}

/** @param said what the process said, which knows why there was no connection; of an end of TLS it knows nothing */
function whyEnded(failure: unknown, said: string): string {
  const ended = failure === null || (failure as NodeJS.ErrnoException).code === 'ECONNRESET'
  return ended ? said || CAUSES.ECONNRESET! : textOf(failure)
}

/** OpenSSL's and Node.js' own words, in one line without what the other side wrote. */
function textOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException
  return (
    CAUSES[code.replace(ALERT, 'ALERT_')] ??
    (code === '' ? 'no connection' : `no connection: ${code.toLowerCase().replaceAll('_', ' ')}`)
  )
}

/** An alert of the other side (RFC 8446 section 6), by the name that this OpenSSL has for it. */
const ALERT = /^ERR_SSL_(?:SSL\/TLS|SSLV3|TLSV1|TLSV13)_ALERT_/

const CAUSES: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "the receiver's certificate is for another name",
  CERT_HAS_EXPIRED: "the receiver's certificate has expired",
  CERT_NOT_YET_VALID: "the receiver's certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the receiver's certificate is not from the given authority",
  SELF_SIGNED_CERT_IN_CHAIN: "the receiver's certificate is not from the given authority",
  UNABLE_TO_GET_ISSUER_CERT: "the receiver's certificate is not from the given authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the receiver's certificate is not from the given authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the receiver's certificate is not from the given authority",
  CERT_SIGNATURE_FAILURE: "the receiver's certificate is not from the given authority",
  ALERT_CERTIFICATE_REQUIRED: 'the receiver wants a client certificate',
  ALERT_HANDSHAKE_FAILURE: 'the receiver refuses the handshake, or wants a client certificate',
  ALERT_UNKNOWN_CA: 'the receiver does not know the authority of our client certificate',
  ALERT_BAD_CERTIFICATE: 'the receiver refuses our client certificate',
  ALERT_CERTIFICATE_UNKNOWN: 'the receiver refuses our client certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the receiver does not speak TLS',
  ECONNRESET: 'the receiver ended the connection',
}
