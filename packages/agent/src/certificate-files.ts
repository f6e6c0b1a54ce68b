import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListenerCertificate } from '@spout/client/agent-link'
import type { Applied, EntryFollower, WantedEntry } from '@spout/dataplane'
import { contentIdOf } from '@spout/model/content-id'
import { certificatesOfEntry } from '@spout/model/node-state'
import { type Logger, Semaphore } from '@spout/runtime'

export interface CertificateFilesOptions {
  /** A memory-backed directory, so that private keys never reach a disk. */
  readonly directory: string
  /** Fetches these certificates of a load balancer from the control plane, which may return more. */
  readonly fetch: (
    loadBalancerId: string,
    certificateIds: readonly string[],
    signal: AbortSignal,
  ) => Promise<readonly ListenerCertificate[]>
  /** Called when certificates of this entry arrived after `apply` had stopped waiting. */
  readonly onArrived: (key: string) => void
  readonly log: Logger
  /** How long entries wait for the control plane. A pass over other entries waits as well. Default 1,000. */
  readonly waitMs?: number
}

const WAIT_MS = 1000
/** Limit of simultaneous requests: after a reboot all load balancers lack their certificates. */
const MOST_REQUESTS = 4
/** Always zero: these followers change neither the kernel nor a proxy. */
const COUNTERS = { transactions: 0, reloads: 0 } as const
const CONTENT_ID = /^[0-9a-f]{32}$/

/**
 * The files of the certificates that the node's entries name: chain and key in `<content id>.pem`, readable only by
 * root. They are fetched before the drivers use them (`before`), and removed when no applied entry names them any more
 * (`after`).
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions
  /** Content ids by key of the entry: those that drivers were given, and those that they confirmed. */
  readonly #wanted = new Map<string, ReadonlySet<string>>()
  readonly #applied = new Map<string, ReadonlySet<string>>()
  /** Requests in progress, by key of the entry and requested certificates. */
  readonly #fetching = new Map<string, Promise<void>>()
  /** By content id: the state (`stampOf`) in which a file was read and its content matched its name. */
  readonly #read = new Map<string, string>()
  readonly #closing = new AbortController()
  readonly #requests = new Semaphore(MOST_REQUESTS)

  constructor(options: CertificateFilesOptions) {
    this.#options = options
  }

  /** To be applied before the drivers. */
  get before(): EntryFollower {
    return {
      name: 'certificates',
      counters: COUNTERS,
      adopt: async (previous) => {
        await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
        await chmod(this.#options.directory, 0o700)
        for (const { key, entry } of previous) note(this.#wanted, key, contentIdsOf(entry))
      },
      apply: async ({ put }) => {
        const needing = put.filter(({ key, entry }) => note(this.#wanted, key, contentIdsOf(entry)))
        return (await Promise.all(needing.map((wanted) => this.#provide(wanted)))).flat()
      },
      observe: async () => {
        if (this.#applied.size === 0) return []
        const present = await this.#present()
        return [...this.#applied].filter(([, ids]) => !ids.isSubsetOf(present)).map(([key]) => key)
      },
      close: async () => {},
    }
  }

  /** To be applied after the drivers. */
  get after(): EntryFollower {
    return {
      name: 'unused-certificates',
      counters: COUNTERS,
      adopt: async (previous) => {
        for (const { key, entry } of previous) note(this.#applied, key, contentIdsOf(entry))
      },
      apply: async ({ put, remove }) => {
        let mayBeUnused = false
        for (const { key, entry } of put) {
          const ids = contentIdsOf(entry)
          mayBeUnused ||= !(this.#applied.get(key) ?? NONE).isSubsetOf(ids)
          note(this.#applied, key, ids)
        }
        for (const key of remove) {
          mayBeUnused ||= this.#applied.has(key)
          this.#applied.delete(key)
          this.#wanted.delete(key)
        }
        if (mayBeUnused) await this.#removeUnused()
        return []
      },
      observe: async () => [],
      close: async () => {},
    }
  }

  /** Cancels requests that are under way. The files stay. */
  close(): void {
    this.#closing.abort()
  }

  async #provide({ key, entry }: WantedEntry): Promise<readonly Applied[]> {
    const ids = contentIdsOf(entry)
    const wanted = await this.#missing(ids)
    if (wanted.length === 0) return []
    const isLate = await this.#fetch(key, entry.id, certificateIdsOf(entry, new Set(wanted)))
    const missing = await this.#missing(new Set(wanted))
    if (missing.length === 0) return []
    const message = isLate
      ? 'the control plane has not sent its certificates yet'
      : `the control plane does not have ${missing.length} of its ${ids.size} certificates, or cannot open them`
    return [{ key, state: 'failed', reason: 'CertificateMissing', message }]
  }

  /** @returns whether the response is still awaited. Then `onArrived` is called when it arrives */
  async #fetch(key: string, loadBalancerId: string, certificateIds: readonly string[]): Promise<boolean> {
    const { onArrived, log, waitMs = WAIT_MS } = this.#options
    const request = [key, ...certificateIds].join()
    const fetching =
      this.#fetching.get(request) ?? this.#requests.run(() => this.#fetchNow(loadBalancerId, certificateIds))
    this.#fetching.set(request, fetching)
    let isLate = false
    const done = fetching
      .catch((error: unknown) =>
        log.warn({ event: 'certificates-failed', key, err: error }, 'certificates could not be fetched'),
      )
      .finally(() => {
        this.#fetching.delete(request)
        if (isLate && !this.#closing.signal.aborted) onArrived(key)
      })
    isLate = await Promise.race([done.then(() => false), new Promise<true>((late) => setTimeout(late, waitMs, true))])
    return isLate
  }

  async #fetchNow(loadBalancerId: string, certificateIds: readonly string[]): Promise<void> {
    for (const { contentId, pem } of await this.#options.fetch(loadBalancerId, certificateIds, this.#closing.signal))
      await this.#write(contentId, pem)
  }

  /** Writes the file under another name and renames it, so that no driver reads an incomplete file. */
  async #write(contentId: string, pem: string): Promise<void> {
    const file = this.#fileOf(contentId)
    const part = `${file}.${randomUUID()}`
    await writeFile(part, pem, { mode: 0o600, flag: 'wx' })
    await rename(part, file)
  }

  /** Content ids of the files that are there. */
  async #present(): Promise<ReadonlySet<string>> {
    const names = await readdir(this.#options.directory)
    return new Set(names.flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : [])))
  }

  /**
   * The certificates whose file is missing or damaged. A file that was read and has not changed since is not read
   * again.
   */
  async #missing(ids: ReadonlySet<string>): Promise<readonly string[]> {
    const unread = [...ids].flatMap((id) => {
      const stamp = stampOf(this.#fileOf(id))
      return stamp !== null && this.#read.get(id) === stamp ? [] : [{ id, stamp }]
    })
    const looked = await Promise.all(
      unread.map(async ({ id, stamp }) => {
        const pem = stamp === null ? null : await readFile(this.#fileOf(id), 'latin1').catch(() => null)
        if (pem === null || stamp === null || contentIdOf(pem) !== id) return [id]
        this.#read.set(id, stamp)
        return []
      }),
    )
    return looked.flat()
  }

  async #removeUnused(): Promise<void> {
    const used = new Set([...this.#applied.values(), ...this.#wanted.values()].flatMap((ids) => [...ids]))
    for (const name of await readdir(this.#options.directory)) {
      const contentId = name.split('.')[0] ?? ''
      if (used.has(contentId)) continue
      this.#read.delete(contentId)
      await rm(join(this.#options.directory, name), { force: true })
    }
  }

  #fileOf(contentId: string): string {
    if (!CONTENT_ID.test(contentId)) throw new RangeError(`${JSON.stringify(contentId)} is not a content id`)
    return join(this.#options.directory, contentId + SUFFIX)
  }
}

/**
 * A text that identifies the state of a file; null if it does not exist. The call is synchronous: the directory is in
 * memory, so it waits for no disk, and takes a hundredth of the time of an asynchronous read.
 */
function stampOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeNs}`
}

const SUFFIX = '.pem'
const NONE: ReadonlySet<string> = new Set()

const contentIdsOf = (entry: WantedEntry['entry']): ReadonlySet<string> =>
  new Set(certificatesOfEntry(entry).map(({ contentId }) => contentId))

/** Ids of the certificates with these contents, each once. */
const certificateIdsOf = (entry: WantedEntry['entry'], contentIds: ReadonlySet<string>): readonly string[] => [
  ...new Set(certificatesOfEntry(entry).flatMap(({ id, contentId }) => (contentIds.has(contentId) ? [id] : []))),
]

/** @returns whether there are any */
function note(map: Map<string, ReadonlySet<string>>, key: string, ids: ReadonlySet<string>): boolean {
  if (ids.size > 0) map.set(key, ids)
  else map.delete(key)
  return ids.size > 0
}
