import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { isExpired } from '../api/problem.ts'
import { keys } from '../api/query-keys.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { ExpiredDialog } from './expired-dialog.tsx'
import { LoginPage } from './login-page.tsx'
import type { PageSession } from './page-session.ts'
import { ProjectPage } from './project-page.tsx'
import { readSession } from './session-calls.ts'
import { SessionContext } from './session-context.ts'

/**
 * Shows the page to those who are logged in. When a session ends, the page stays as it is below a dialog to log in
 * again. Another user or project gets a page of its own.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { data: session, error } = useQuery({
    queryKey: keys.session,
    queryFn: ({ signal }) => readSession(signal),
    staleTime: 60_000,
    // Its user may have logged in again in another tab.
    refetchOnWindowFocus: ({ state }) => (state.error === null ? true : 'always'),
  })
  useFreshReads(session)
  if (session === undefined) {
    if (error === null) return null
    return isExpired(error) ? <LoginPage /> : <ProblemBox error={error} />
  }
  if (session.projectId === null) return <ProjectPage session={session} />
  return (
    <SessionContext value={session}>
      <div key={`${session.userId} ${session.projectId}`}>{children}</div>
      {isExpired(error) && <ExpiredDialog session={session} />}
    </SessionContext>
  )
}

/** Reads everything anew when the session has changed: what the former one could not read, or could. */
function useFreshReads(session: PageSession | undefined): void {
  const client = useQueryClient()
  const before = useRef(session)
  useEffect(() => {
    const { current } = before
    before.current = session
    if (current === undefined || session === undefined || current.expiresAt === session.expiresAt) return
    const others = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== keys.session[0] }
    const isSame = current.userId === session.userId && current.projectId === session.projectId
    if (isSame) void client.invalidateQueries(others)
    else void client.resetQueries(others)
  }, [client, session])
}
