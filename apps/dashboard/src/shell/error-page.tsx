import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Problem, problemText } from '../api/problem.ts'
import { Button } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import { ForbiddenPage, NotFoundPage } from '../parts/status-page.tsx'

/** Stands in the frame for a page that may not be read, that does not exist, or that broke. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const queries = useQueryErrorResetBoundary()
  useEffect(() => queries.reset(), [queries])
  if (error instanceof Problem && error.status === 403) return <ForbiddenPage reason={problemText(error)} />
  if (error instanceof Problem && error.status === 404) return <NotFoundPage reason={problemText(error)} />
  const again = (): void => {
    reset()
    void router.invalidate()
  }
  return (
    <Page title="This page does not work">
      <ProblemBox error={error}>
        <Button onPress={again}>Try again</Button>
      </ProblemBox>
    </Page>
  )
}
