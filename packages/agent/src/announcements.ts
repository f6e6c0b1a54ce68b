import type { Announcement, Announcer } from '@spout/dataplane'
import type { LoadBalancerEntry } from '@spout/model/node-state'

type Wishes = ReadonlyMap<string, readonly Announcement[]>

/** Also how it is announced: an address that changes its way is withdrawn and announced anew. */
const identity = ({ address, scope, domain, by }: Announcement): string =>
  `${scope}/${domain}/${address}/${Object.values(by).join('/')}`

/** The addresses that an entry wants announced by this node. */
export const wishesOf = (entry: LoadBalancerEntry): readonly Announcement[] =>
  entry.vips.flatMap(({ address, scope, announce: by }) =>
    by === null ? [] : [{ address, scope, domain: entry.domain, by }],
  )

/** What is announced, by the entry that wants it; hands the announcer the whole set when it changes. */
export class Announcements {
  readonly #announcer: Announcer
  #byKey: Wishes = new Map()

  constructor(announcer: Announcer) {
    this.#announcer = announcer
  }

  /** @returns keys with an address that is not announced as it was */
  async adopt(previous: Wishes): Promise<readonly string[]> {
    await this.#announcer.adopt([...previous.values()].flat())
    this.#byKey = new Map([...previous].filter(([, announcements]) => announcements.length > 0))
    return this.observe()
  }

  /** Addresses announced for this key now. */
  announced(key: string): readonly string[] {
    return this.#of(key).map((one) => one.address)
  }

  /** What stays announced for a key when only these are still wanted. */
  remaining(key: string, wishes: readonly Announcement[]): readonly Announcement[] {
    return common(this.#of(key), wishes)
  }

  differ(key: string, wanted: readonly Announcement[]): boolean {
    const now = this.#of(key)
    return now.length !== wanted.length || now.some((one, index) => identity(one) !== identity(wanted[index]!))
  }

  /**
   * Makes `changes` true: key to all that shall be announced for it. Does nothing when that is so already.
   * @returns the announcer's words by key, for keys with an address that it refused
   * @throws what the announcer threw; nothing counts as changed then
   */
  async apply(changes: Wishes, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const differing = [...changes].filter(([key, wanted]) => this.differ(key, wanted))
    if (differing.length === 0) return new Map()
    const next = new Map(this.#byKey)
    for (const [key, wanted] of differing) {
      if (wanted.length === 0) next.delete(key)
      else next.set(key, wanted)
    }
    const outcomes = await this.#announcer.apply([...next.values()].flat(), signal)
    const refused = outcomes.flatMap(({ announcement, error }) => (error === null ? [] : [{ announcement, error }]))
    this.#byKey = next
    const words = new Map(refused.map(({ announcement, error }) => [identity(announcement), error]))
    const failed = this.#drop((one) => words.has(identity(one)))
    return new Map(failed.map(([key, one]) => [key, `${one.address}: ${words.get(identity(one))}`]))
  }

  /** @returns keys with an address that somebody else took from the node */
  async observe(): Promise<readonly string[]> {
    const present = new Set((await this.#announcer.observe()).map(identity))
    return this.#drop((one) => !present.has(identity(one))).map(([key]) => key)
  }

  /** Forgets announcements that are not there: so they count as wanted anew. */
  #drop(isGone: (announcement: Announcement) => boolean): readonly (readonly [string, Announcement])[] {
    const gone = [...this.#byKey].flatMap(([key, announcements]) =>
      announcements.filter(isGone).map((one) => [key, one] as const),
    )
    if (gone.length === 0) return gone
    const next = new Map(this.#byKey)
    for (const [key] of gone)
      next.set(
        key,
        this.#of(key).filter((one) => !isGone(one)),
      )
    this.#byKey = next
    return gone
  }

  #of(key: string): readonly Announcement[] {
    return this.#byKey.get(key) ?? []
  }
}

function common(announced: readonly Announcement[], wishes: readonly Announcement[]): readonly Announcement[] {
  const wanted = new Set(wishes.map(identity))
  return announced.filter((one) => wanted.has(identity(one)))
}
