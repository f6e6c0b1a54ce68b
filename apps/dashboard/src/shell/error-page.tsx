import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Problem } from '../api/problem.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Page } from '../parts/page.tsx'
import { ProblemBox } from '../parts/problem-box.tsx'
import styles from './error-page.module.css'

/** Stands in the frame for a page that may not be read, that does not exist, or that broke. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const queries = useQueryErrorResetBoundary()
  useEffect(() => queries.reset(), [queries])
  if (error instanceof Problem && error.status === 403) return <ForbiddenPage reason={error.message} />
  if (error instanceof Problem && error.status === 404) return <NotFoundPage reason={error.message} />
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

/** For a page that the session's roles do not allow. */
export const ForbiddenPage = ({ reason }: { readonly reason?: string }) => (
  <Page title="Not allowed">
    <p className={styles.reason}>
      <bdi>{reason ?? 'Your role in this project does not allow this page.'}</bdi> Switch to another project above, or
      ask its administrator for a role.
    </p>
    <BackToStart />
  </Page>
)

export const NotFoundPage = ({ reason }: { readonly reason?: string }) => (
  <Page title="Not found">
    <p className={styles.reason}>
      <bdi>{reason ?? 'There is no page with this address.'}</bdi> It may have been deleted, or belong to another
      project.
    </p>
    <BackToStart />
  </Page>
)

const BackToStart = () => (
  <p>
    <ButtonLink to="/load-balancers">To the load balancers</ButtonLink>
  </p>
)
