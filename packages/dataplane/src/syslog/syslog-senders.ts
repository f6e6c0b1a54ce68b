import type { NodeSyslog } from '@spout/model/node-state'
import { type SyslogCounts, SyslogSender } from './syslog-sender.ts'
import { TlsSender, type TlsSenderOptions } from './tls-sender.ts'

export interface SyslogSendersOptions
  extends Pick<TlsSenderOptions, 'executable' | 'certificateFile' | 'clock' | 'log'> {
  /** Path of a domain's namespace. */
  readonly netns: (domain: number) => string
  /** User and group of a domain's processes. */
  readonly uid: (domain: number) => number
}

/** A receiver in the network of a domain. */
export interface SyslogReceiver {
  readonly domain: number
  readonly target: NodeSyslog
}

type Sender = SyslogSender | TlsSender

/** A network has no more receivers at once on a node: each has a process. */
export const MOST_RECEIVERS = 8

/** The senders of a node, by receiver. */
export class SyslogSenders {
  readonly #options: SyslogSendersOptions
  readonly #counts = { sent: 0, lost: 0 }
  /** By domain, and then by receiver. */
  readonly #domains = new Map<number, Map<string, Sender>>()
  /** Senders that are ending, and send what is queued. */
  readonly #ending = new Set<{ readonly domain: number; readonly sender: Sender }>()

  constructor(options: SyslogSendersOptions) {
    this.#options = options
  }

  get counts(): SyslogCounts {
    return { ...this.#counts }
  }

  /** @param message as `SyslogSender.send` takes it; lost if its network has too many receivers */
  send({ domain, target }: SyslogReceiver, message: string): void {
    const known = this.#domains.get(domain) ?? new Map<string, Sender>()
    this.#domains.set(domain, known)
    const sender = known.get(keyOf(target)) ?? (known.size < MOST_RECEIVERS ? this.#open(domain, target) : null)
    if (sender === null) this.#counts.lost++
    else {
      known.set(keyOf(target), sender)
      sender.send(message)
    }
  }

  /** Why nothing is sent to a receiver now; null: it is, or nothing is known. */
  troubleOf({ domain, target }: SyslogReceiver): string | null {
    const known = this.#domains.get(domain)
    if (known === undefined) return null
    const sender = known.get(keyOf(target))
    if (sender !== undefined) return sender.trouble
    return known.size < MOST_RECEIVERS
      ? null
      : `the network has ${MOST_RECEIVERS} receivers on this node, which is the most`
  }

  /** Ends the senders of all other receivers. */
  keep(receivers: Iterable<SyslogReceiver>): void {
    const kept = new Set(Array.from(receivers, ({ domain, target }) => `${domain} ${keyOf(target)}`))
    for (const [domain, known] of this.#domains)
      for (const [key, sender] of known)
        if (!kept.has(`${domain} ${key}`)) {
          known.delete(key)
          this.#end(domain, sender)
        }
  }

  /** Ends those of a domain that is removed, at once: a process inside would keep its namespace alive. */
  async stopDomain(domain: number): Promise<void> {
    const known = [...(this.#domains.get(domain)?.values() ?? [])]
    const ending = [...this.#ending].flatMap((one) => (one.domain === domain ? [one.sender] : []))
    this.#domains.delete(domain)
    await Promise.all([...known, ...ending].map((sender) => sender.kill()))
  }

  async close(): Promise<void> {
    const all = [...this.#domains.values()].flatMap((known) => [...known.values()])
    this.#domains.clear()
    await Promise.all(all.map((sender) => sender.close()))
  }

  #end(domain: number, sender: Sender): void {
    const one = { domain, sender }
    this.#ending.add(one)
    void sender.close().finally(() => this.#ending.delete(one))
  }

  #open(domain: number, target: NodeSyslog): Sender {
    const { netns, uid, certificateFile, ...given } = this.#options
    const count = (what: keyof SyslogCounts, messages: number): void => {
      this.#counts[what] += messages
    }
    const options = { ...given, netns: netns(domain), uid: uid(domain), count }
    const { tls } = target
    if (tls === undefined) return new SyslogSender({ ...options, target })
    return new TlsSender({ ...options, certificateFile, target: { ...target, tls } })
  }
}

/** Another certificate is another receiver: a connection that was made with the old one ends. */
const keyOf = ({ transport, address, port, tls }: NodeSyslog): string =>
  [
    ...[transport, address, port],
    ...(tls === undefined ? [] : [tls.authorities.contentId, tls.serverName, tls.certificate?.contentId]),
  ].join(' ')
