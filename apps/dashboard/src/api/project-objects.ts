import type { Network } from '@spout/model'
import { ask } from './ask.ts'
import type { ShownCertificate } from './certificates.ts'

/** What one project has of a kind. For administrators, who see that of all. */
const listOf = async <T>(path: string, projectId: string, signal: AbortSignal): Promise<readonly T[]> => {
  const query = new URLSearchParams({ project: projectId })
  return (await ask<{ readonly items: readonly T[] }>('GET', `${path}?${query}`, { signal })).items
}

export const certificatesOfProject = (projectId: string, signal: AbortSignal): Promise<readonly ShownCertificate[]> =>
  listOf('/certificates', projectId, signal)

export const networksOfProject = (projectId: string, signal: AbortSignal): Promise<readonly Network[]> =>
  listOf('/networks', projectId, signal)
