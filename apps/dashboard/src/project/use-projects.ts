import { useQuery } from '@tanstack/react-query'
import { listProjects } from '../api/projects.ts'
import { keys } from '../api/query-keys.ts'

/** All projects, which operators may read. */
export const useProjects = ({ enabled = true }: { readonly enabled?: boolean } = {}) =>
  useQuery({ queryKey: keys.of('project'), queryFn: ({ signal }) => listProjects(signal), enabled })
