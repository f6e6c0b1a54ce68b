import { keepWatching } from '@spout/client/keep-watching'
import { Refused } from '@spout/client/native-api'
import type { Transport } from '@spout/kube'
import {
  type Clock,
  done,
  failed,
  Listeners,
  type Logger,
  type Outcome,
  Reconciler,
  retryAfter,
  WorkQueue,
} from '@spout/runtime'
import type { CertificateService, StoredCertificate } from '../control-plane/certificate-service.ts'
import { type Refusal, reasonOf } from '../refusal.ts'
import { hasContent, isOfOwner, labelsOf, secretTag, tagOfSecret } from './certificate-tags.ts'
import { NamedSecrets } from './named-secrets.ts'

/** The certificate of the project for a Secret, or why there is none. */
export type CertificateSight =
  /** `notice`: why the present content of the Secret cannot be used. The certificate has the content from before. */
  | { readonly type: 'ready'; readonly certificate: StoredCertificate; readonly notice: Refusal | null }
  /** The Secret has not been read, or its certificate not been stored. */
  | { readonly type: 'waits' }
  | { readonly type: 'refused'; readonly refusal: Refusal }

export interface TlsCertificatesOptions {
  readonly transport: Transport
  readonly service: CertificateService
  /** Id of the cluster, as in annotations of load balancers. */
  readonly cluster: string
  /**
   * The kinds of objects that name Secrets. No certificate is deleted before `complete` was called for each kind. An
   * instance with other kinds keeps certificates of its own: neither touches those of the other.
   */
  readonly namers: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

const WORKERS = 8
/**
 * The field of the Secret, and the reason of the refusal, for each field of a certificate that the control plane
 * refuses.
 */
const IN_THE_SECRET: Readonly<Record<string, Pick<Refusal, 'field' | 'reason'>>> = {
  chain: { field: 'data[tls.crt]', reason: 'InvalidCertificate' },
  key: { field: 'data[tls.key]', reason: 'InvalidCertificate' },
  users: { field: 'data', reason: 'InvalidUsers' },
}

const REFUSED_RETRY_MS = 30_000
/**
 * Pause after a deletion was refused because a listener still names the certificate. Its load balancer is about to be
 * written.
 */
const IN_USE_RETRY_MS = 1000
const NOT_LISTED_RETRY_MS = 200

/**
 * Keeps a certificate of the project for each Secret that objects name. The certificate is created when the first
 * object names the Secret, replaced when the Secret changes, and deleted when no object names it. If the Secret becomes
 * unusable or is deleted while it is named, the certificate stays as it was.
 */
export class TlsCertificates {
  readonly #options: TlsCertificatesOptions
  readonly #secrets: NamedSecrets
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  readonly #listeners = new Listeners<string>()
  /** The keys of Secrets by the object that names them. */
  readonly #named = new Map<string, ReadonlySet<string>>()
  /** How many objects name each Secret, by key. */
  readonly #namers = new Map<string, number>()
  /** The kinds that have not called `complete`. */
  readonly #waitingFor: Set<string>
  /** The cluster and the kinds, as tags of certificates name them. */
  readonly #owner: string
  /** The certificates of this owner in the control plane, by id. */
  readonly #stored = new Map<string, StoredCertificate>()
  /** Refusals of the control plane, with the content that was refused. */
  readonly #refused = new Map<string, { readonly hash: string; readonly refusal: Refusal }>()
  /** Ids that the list under way has shown; null when none is under way. */
  #seen: Set<string> | null = null
  #listed = false
  #following: Promise<void> | null = null

  constructor(options: TlsCertificatesOptions) {
    this.#options = options
    const { transport, clock, log, namers } = options
    this.#waitingFor = new Set(namers)
    this.#owner = `${options.cluster} ${namers.toSorted().join('+')}`
    this.#queue = new WorkQueue({ clock })
    this.#secrets = new NamedSecrets({ transport, clock, log, onChange: (key) => this.#changed(key) })
    this.#reconciler = new Reconciler({
      name: 'tls-certificates',
      queue: this.#queue,
      log,
      workers: WORKERS,
      reconcile: (key) => this.#look(key),
    })
  }

  /** Whether the project's certificates have been listed. */
  get ready(): boolean {
    return this.#listed
  }

  start(): void {
    this.#following = this.#follow()
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#reconciler.stop()
    await this.#secrets.close()
    await this.#following
  }

  /** Calls back with the key of a Secret for which `of` may now return something else. */
  onChange(listener: (key: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Sets which Secrets an object names now; an empty set when the object is gone.
   * @param namer identifies the object, uniquely among all kinds
   * @param keys `namespace/name` of each Secret, or a key that `configMapKey` and its like return
   */
  name(namer: string, keys: ReadonlySet<string>): void {
    const before = this.#named.get(namer) ?? NONE
    if (keys.size === 0) this.#named.delete(namer)
    else this.#named.set(namer, new Set(keys))
    for (const key of keys.difference(before)) {
      const count = (this.#namers.get(key) ?? 0) + 1
      this.#namers.set(key, count)
      if (count > 1) continue
      this.#secrets.follow(key)
      this.#queue.add(key)
    }
    for (const key of before.difference(keys)) {
      const count = (this.#namers.get(key) ?? 1) - 1
      if (count > 0) {
        this.#namers.set(key, count)
        continue
      }
      this.#namers.delete(key)
      this.#secrets.forget(key)
      this.#refused.delete(key)
      this.#sweep()
    }
  }

  /** All objects of this kind have registered the Secrets that they name: from now on, others may be deleted. */
  complete(kind: string): void {
    if (this.#waitingFor.delete(kind)) this.#sweep()
  }

  /** @param key the key of a Secret that some object names */
  of(key: string): CertificateSight {
    const content = this.#secrets.of(key)
    const [certificate] = this.#madeOf(key)
    // Until the Secret has been read, the certificate that an earlier process stored is used.
    if (content === null && certificate !== undefined) return { type: 'ready', certificate, notice: null }
    if (!this.#listed || content === null) return { type: 'waits' }
    const refusal = 'refusal' in content ? content.refusal : this.#refusalOf(key, content.value.hash)
    if (refusal !== null)
      return certificate === undefined ? { type: 'refused', refusal } : { type: 'ready', certificate, notice: refusal }
    // While its replacement is being stored, the previous certificate is returned.
    return certificate === undefined ? { type: 'waits' } : { type: 'ready', certificate, notice: null }
  }

  #refusalOf(key: string, hash: string): Refusal | null {
    const refused = this.#refused.get(key)
    return refused?.hash === hash ? refused.refusal : null
  }

  /** The stored certificates of a Secret. */
  #madeOf(key: string): readonly StoredCertificate[] {
    return this.#stored
      .values()
      .filter((one) => tagOfSecret(one) === secretTag(this.#owner, key))
      .toArray()
  }

  #changed(key: string): void {
    this.#queue.add(key)
    this.#tell(key)
  }

  #tell(key: string): void {
    this.#listeners.tell(key)
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.#listed) return retryAfter(NOT_LISTED_RETRY_MS)
    if (key.startsWith(SWEEP)) return this.#delete(key.slice(SWEEP.length))
    if (!this.#namers.has(key)) return done
    const { service } = this.#options
    const content = this.#secrets.of(key)
    if (content === null || 'refusal' in content) return done
    const { hash } = content.value
    const [certificate] = this.#madeOf(key)
    if (certificate !== undefined && hasContent(certificate, hash)) return done
    const labels = labelsOf(this.#owner, key, hash)
    try {
      const stored =
        certificate === undefined
          ? await service.create(labels, content.value)
          : await service.replace(certificate.id, labels, content.value)
      this.#refused.delete(key)
      this.#stored.set(stored.id, stored)
      this.#tell(key)
      if (!this.#namers.has(key)) this.#sweep()
      return done
    } catch (error) {
      if (!(error instanceof Refused)) return failed((error as Error).message)
      if (certificate !== undefined && error.code === 'NotFound') {
        this.#stored.delete(certificate.id)
        return retryAfter(0)
      }
      const { field, reason } = IN_THE_SECRET[error.field ?? ''] ?? { field: 'data[tls.crt]', reason: error.code }
      this.#refused.set(key, { hash, refusal: { reason, field, message: reasonOf(error.message) } })
      this.#tell(key)
      return retryAfter(REFUSED_RETRY_MS)
    }
  }

  /** Queues the deletion of certificates that no object names, also those that an earlier process stored. */
  #sweep(): void {
    if (!this.#listed || this.#waitingFor.size > 0) return
    const named = new Set(this.#namers.keys().map((key) => secretTag(this.#owner, key)))
    for (const one of this.#stored.values()) if (!named.has(tagOfSecret(one))) this.#queue.add(`${SWEEP}${one.id}`)
  }

  async #delete(id: string): Promise<Outcome> {
    const certificate = this.#stored.get(id)
    if (certificate === undefined || this.#isNamed(certificate)) return done
    try {
      await this.#options.service.delete(id)
      // If an object has named the Secret meanwhile, this queues a new certificate.
      this.#gone(id)
      return done
    } catch (error) {
      return error instanceof Refused ? retryAfter(IN_USE_RETRY_MS) : failed((error as Error).message)
    }
  }

  #isNamed(certificate: StoredCertificate): boolean {
    return this.#namers.keys().some((key) => secretTag(this.#owner, key) === tagOfSecret(certificate))
  }

  async #follow(): Promise<void> {
    const { service, clock, log } = this.#options
    const { signal } = this.#stop
    const watch = async (resetPauses: () => void) => {
      try {
        for await (const event of service.watch(signal)) {
          if (event.type === 'listing') this.#seen = new Set()
          else if (event.type === 'shown') this.#shown(event.certificate)
          else if (event.type === 'deleted') this.#gone(event.id)
          else this.#endList()
          if (event.type !== 'listing') resetPauses()
        }
      } finally {
        this.#seen = null
      }
    }
    const meanwhile = 'certificates are as they were last seen'
    await keepWatching(watch, { path: '/certificates', meanwhile, clock, log, signal })
  }

  #shown(certificate: StoredCertificate): void {
    if (!isOfOwner(certificate, this.#owner)) return
    this.#seen?.add(certificate.id)
    this.#stored.set(certificate.id, certificate)
  }

  #gone(id: string): void {
    const certificate = this.#stored.get(id)
    if (certificate === undefined) return
    this.#stored.delete(id)
    for (const key of this.#namers.keys())
      if (secretTag(this.#owner, key) === tagOfSecret(certificate)) this.#changed(key)
  }

  #endList(): void {
    if (this.#seen === null) return
    for (const id of [...this.#stored.keys()]) if (!this.#seen.has(id)) this.#gone(id)
    this.#seen = null
    this.#listed = true
    for (const key of this.#namers.keys()) this.#changed(key)
    this.#sweep()
  }
}

const NONE: ReadonlySet<string> = new Set()
/**
 * Prefix of queue keys for certificates that no object names. No key of a Secret begins with it, because names of
 * namespaces contain no `:`.
 */
const SWEEP = 'unnamed:'
