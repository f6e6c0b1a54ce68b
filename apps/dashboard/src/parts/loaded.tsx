import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isExpired, Problem } from '../api/problem.ts'
import { Button } from './button.tsx'
import styles from './loaded.module.css'
import { ProblemBox } from './problem-box.tsx'

interface Props<T> {
  readonly query: UseQueryResult<T>
  readonly children: (data: T) => ReactNode
}

/**
 * What a query has read. What was read once stays while it is read anew, also when that fails. A refusal for the role,
 * or an unknown object, is thrown: the frame has pages for these.
 */
export function Loaded<T>({ query, children }: Props<T>): ReactNode {
  const { data, error } = query
  if (error instanceof Problem && (error.status === 403 || error.status === 404)) throw error
  if (data !== undefined)
    return (
      <>
        {error !== null && !isExpired(error) && <ProblemBox error={error} />}
        {children(data)}
      </>
    )
  if (error === null || isExpired(error)) return <p className={styles.wait}>Loading…</p>
  return (
    <ProblemBox error={error}>
      <Button onPress={() => void query.refetch()}>Try again</Button>
    </ProblemBox>
  )
}
