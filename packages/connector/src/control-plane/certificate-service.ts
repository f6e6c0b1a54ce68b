import type { TlsContent } from '../certificates/tls-secret.ts'

/** The fields of a certificate of the project that are used here. */
export interface StoredCertificate {
  readonly id: string
  readonly name: string
  readonly tags: readonly string[]
  /** The DNS names and addresses for which it is valid. */
  readonly names: readonly string[]
}

/** The fields that describe a certificate, for people and for us; all but its content. */
export type CertificateLabels = Pick<StoredCertificate, 'name' | 'tags'>

/** `listing` begins a watch; `listed` says that everything that exists has been sent. */
export type CertificateEvent =
  | { readonly type: 'listing' | 'listed' }
  | { readonly type: 'shown'; readonly certificate: StoredCertificate }
  | { readonly type: 'deleted'; readonly id: string }

/**
 * The certificates of one project. All methods throw `Refused` when the control plane refuses, and other errors when a
 * later attempt may work.
 */
export interface CertificateService {
  create(labels: CertificateLabels, content: TlsContent): Promise<StoredCertificate>
  /** Replaces the content. Listeners use it at once, without a change of theirs. */
  replace(id: string, labels: CertificateLabels, content: TlsContent): Promise<StoredCertificate>
  /** Resolves also when there was none. @throws Refused `InUse` while a listener names it */
  delete(id: string): Promise<void>
  /** Everything that exists, then changes, until `signal` aborts or the connection ends. */
  watch(signal: AbortSignal): AsyncIterable<CertificateEvent>
}
