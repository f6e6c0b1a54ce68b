import { NativeApi, Refused, type Sessions } from '@spout/client/native-api'
import type { TlsContent } from '../certificates/tls-secret.ts'
import type {
  CertificateEvent,
  CertificateLabels,
  CertificateService,
  StoredCertificate,
} from './certificate-service.ts'

/** `CertificateService` over the native API. */
export class NativeCertificates implements CertificateService {
  readonly #api: NativeApi

  constructor(sessions: Sessions) {
    this.#api = new NativeApi(sessions)
  }

  async create(labels: CertificateLabels, content: TlsContent): Promise<StoredCertificate> {
    return stored(await this.#api.call<StoredCertificate>('POST', '/certificates', bodyOf(labels, content)))
  }

  async replace(id: string, labels: CertificateLabels, content: TlsContent): Promise<StoredCertificate> {
    return stored(await this.#api.call<StoredCertificate>('PATCH', `/certificates/${id}`, bodyOf(labels, content)))
  }

  async delete(id: string): Promise<void> {
    try {
      await this.#api.call('DELETE', `/certificates/${id}`)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'NotFound') throw error
    }
  }

  async *watch(signal: AbortSignal): AsyncIterable<CertificateEvent> {
    yield { type: 'listing' }
    for await (const line of this.#api.watch<StoredCertificate>('/certificates', signal)) {
      if (line.type === 'BOOKMARK') yield { type: 'listed' }
      else if (line.type === 'DELETED') yield { type: 'deleted', id: line.object.id }
      else yield { type: 'shown', certificate: stored(line.object) }
    }
  }
}

const stored = ({ id, name, tags, names }: StoredCertificate): StoredCertificate => ({ id, name, tags, names })

const bodyOf = (labels: CertificateLabels, { chain, key }: TlsContent) => ({
  ...labels,
  ...(chain === '' ? { users: key?.reveal() ?? '' } : { chain, ...(key === null ? {} : { key: key.reveal() }) }),
})
