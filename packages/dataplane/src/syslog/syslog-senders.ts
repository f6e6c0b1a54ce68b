import type { SyslogTarget } from '@spout/model/access-log'
import { type SyslogCounts, SyslogSender, type SyslogSenderOptions } from './syslog-sender.ts'

export interface SyslogSendersOptions extends Pick<SyslogSenderOptions, 'executable' | 'clock' | 'log'> {
  /** Path of a domain's namespace. */
  readonly netns: (domain: number) => string
  /** User and group of a domain's processes. */
  readonly uid: (domain: number) => number
}

/** A receiver in the network of a domain. */
export interface SyslogReceiver {
  readonly domain: number
  readonly target: SyslogTarget
}

/** A network has no more receivers at once on a node: each has a process. */
export const MOST_RECEIVERS = 8

/** The senders of a node, by receiver. */
export class SyslogSenders {
  readonly #options: SyslogSendersOptions
  readonly #counts = { sent: 0, lost: 0 }
  /** By domain, and then by receiver. */
  readonly #domains = new Map<number, Map<string, SyslogSender>>()
  /** Those that send what they still have. */
  readonly #ending = new Set<{ readonly domain: number; readonly sender: SyslogSender }>()

  constructor(options: SyslogSendersOptions) {
    this.#options = options
  }

  get counts(): SyslogCounts {
    return { ...this.#counts }
  }

  /** @param message as `SyslogSender.send` takes it; lost if its network has too many receivers */
  send({ domain, target }: SyslogReceiver, message: string): void {
    const known = this.#domains.get(domain) ?? new Map<string, SyslogSender>()
    this.#domains.set(domain, known)
    const sender = known.get(keyOf(target)) ?? (known.size < MOST_RECEIVERS ? this.#open(domain, target) : null)
    if (sender === null) this.#counts.lost++
    else {
      known.set(keyOf(target), sender)
      sender.send(message)
    }
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

  #end(domain: number, sender: SyslogSender): void {
    const one = { domain, sender }
    this.#ending.add(one)
    void sender.close().finally(() => this.#ending.delete(one))
  }

  #open(domain: number, target: SyslogTarget): SyslogSender {
    const { netns, uid, ...options } = this.#options
    return new SyslogSender({
      ...options,
      ...{ netns: netns(domain), uid: uid(domain), target },
      count: (what, messages) => {
        this.#counts[what] += messages
      },
    })
  }
}

const keyOf = ({ transport, address, port }: SyslogTarget): string => `${transport} ${address} ${port}`
