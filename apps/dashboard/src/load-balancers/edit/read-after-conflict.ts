import type { QueryClient } from '@tanstack/react-query'
import { Problem } from '../../api/problem.ts'
import { keys } from '../../api/query-keys.ts'

/** Somebody else was faster: what they wrote is read, and the difference shown. */
export function readAfterConflict(client: QueryClient, id: string, error: Error): void {
  if (error instanceof Problem && (error.status === 412 || error.status === 409))
    void client.invalidateQueries({ queryKey: keys.loadBalancer(id) })
}
