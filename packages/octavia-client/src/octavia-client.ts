import { ApiClient } from './api-client.ts'

/** The Octavia v2 API of one cloud. */
export class OctaviaClient extends ApiClient {
  /** @param endpoint of the catalog: with the version or without it */
  constructor(endpoint: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const base = endpoint.replace(/\/+$/, '').replace(/\/v2(\.0)?(\/lbaas)?$/, '')
    super(`${base}/v2/lbaas`, headers, signal, ({ faultstring }) =>
      typeof faultstring === 'string' ? faultstring : null,
    )
  }
}
