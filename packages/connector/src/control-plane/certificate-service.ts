import type { TlsContent } from '../certificates/tls-secret.ts'

/** The fields of a certificate of the project that are used here. */
export interface StoredCertificate {
  readonly id: string
  readonly name: string
  readonly tags: readonly string[]
  /** DNS names and addresses that it is for. */
  readonly names: readonly string[]
}

/** The fields of a certificate that describe it to people and to us, beside its content. */
export type CertificateLabels = Pick<StoredCertificate, 'name' | 'tags'>

/** `listed` ends the first part of a watch: everything that exists has been sent. */
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
  /** Replaces the content. Listeners show it to clients at once, and need no change. */
  replace(id: string, labels: CertificateLabels, content: TlsContent): Promise<StoredCertificate>
  /** Resolves also when there was none. @throws Refused `InUse` while a listener names it */
  delete(id: string): Promise<void>
  /** Everything that exists, then changes, until `signal` aborts or the connection ends. */
  watch(signal: AbortSignal): AsyncIterable<CertificateEvent>
}
