import { useQuery } from '@tanstack/react-query'
import { listClasses } from '../api/load-balancer-classes.ts'
import { keys } from '../api/query-keys.ts'
import type { ProjectQuota } from '../api/quotas.ts'
import { type ClassRow, classRows } from './class-rows.ts'

interface ClassesOfProject {
  /** Those of the quota alone, until what is offered has been read. */
  readonly rows: readonly ClassRow[]
  /** Why it is not known what is offered; null: it is, or will be. */
  readonly error: Error | null
}

/** The classes of which a project has a limit or load balancers, or which it may use. */
export function useClassRows(projectId: string, { classes }: ProjectQuota): ClassesOfProject {
  const { data = [], error } = useQuery({
    queryKey: keys.of('loadBalancerClass'),
    queryFn: ({ signal }) => listClasses(signal),
  })
  return { rows: classRows(classes, data, projectId), error }
}
