import type { Project } from '@spout/model'
import { ask } from './ask.ts'

/** All projects for an administrator; others see their own. */
export const listProjects = async (signal: AbortSignal): Promise<readonly Project[]> =>
  (await ask<{ readonly items: readonly Project[] }>('GET', '/projects', { signal })).items
