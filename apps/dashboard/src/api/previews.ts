import type { Preview } from '@spout/model'
import { ask } from './ask.ts'

/** What a write would do. Nothing is stored. @throws Problem as the write would */
const dryRun = (method: string, path: string, question: Parameters<typeof ask>[2] = {}): Promise<Preview> =>
  ask(method, `/load-balancers${path}?dryRun=true`, question)

/** @param draft the body of `POST /load-balancers` */
export const previewCreation = (draft: unknown): Promise<Preview> => dryRun('POST', '', { body: draft })

/** @param etag of the version that was read: another one is refused with 412 */
export const previewReplacement = (id: string, document: unknown, etag: string | null): Promise<Preview> =>
  dryRun('PUT', `/${encodeURIComponent(id)}`, { body: document, ifMatch: etag })

export const previewDeletion = (id: string, signal: AbortSignal): Promise<Preview> =>
  dryRun('DELETE', `/${encodeURIComponent(id)}`, { signal })
