import { ApiClient, type Attributes } from './api-client.ts'

/** The Neutron v2.0 API of one cloud. */
export class NeutronClient extends ApiClient {
  /** @param endpoint of the catalog: with the version or without it */
  constructor(endpoint: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const base = endpoint.replace(/\/+$/, '').replace(/\/v2(\.0)?$/, '')
    super(`${base}/v2.0`, headers, signal, faultText)
  }

  /** @param path joins words by dashes, as in `/security-groups`; the list in the answer joins them by underscores */
  override list(path: string, plural = path.slice(1).replaceAll('-', '_')): Promise<readonly Attributes[]> {
    return super.list(path, plural)
  }

  /** Tags are written by a request of their own (Networking API v2.0, "Standard attributes tag extension"). */
  override async create(path: string, root: string, { tags, ...body }: Attributes): Promise<Attributes> {
    const created = await super.create(path, root, body)
    if (tags !== undefined) await this.update(`${path}/${String(created['id'])}/tags`, 'tags', tags as Attributes)
    return created
  }
}

function faultText({ NeutronError: error }: Attributes): string | null {
  const message = typeof error === 'object' && error !== null ? (error as Attributes)['message'] : error
  return typeof message === 'string' ? message : null
}
