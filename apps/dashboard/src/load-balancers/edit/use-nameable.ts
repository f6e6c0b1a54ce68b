import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { certificatesOfProject, networksOfProject } from '../../api/project-objects.ts'
import { keys } from '../../api/query-keys.ts'
import type { Nameable } from '../completion/nameable.ts'
import type { DocumentPool } from './document-pools.ts'
import { nameableOf } from './nameable-of.ts'
import { useLast } from './use-last.ts'

const NONE: readonly never[] = []

/**
 * What the fields of a document can name. What its project has is read when the editor opens, not while somebody types.
 * @param pools of the document; undefined: what is typed is no YAML just now, so those of before count
 */
export function useNameable(projectId: string, pools: readonly DocumentPool[] | undefined): Nameable {
  const ownPools = useLast<readonly DocumentPool[]>(pools, NONE)
  const { data: certificates = NONE } = useQuery({
    queryKey: keys.of('certificate', projectId),
    queryFn: ({ signal }) => certificatesOfProject(projectId, signal),
  })
  const { data: networks = NONE } = useQuery({
    queryKey: keys.of('network', projectId),
    queryFn: ({ signal }) => networksOfProject(projectId, signal),
  })
  return useMemo(() => nameableOf(ownPools, certificates, networks), [ownPools, certificates, networks])
}
