import type { ReactNode } from 'react'
import { ForbiddenPage } from '../parts/status-page.tsx'
import { useSession } from '../session/session-context.ts'

/** What belongs to operators. Others get the page for that; the server refuses them in any case. */
export function OperatorsOnly({ children }: { readonly children: ReactNode }) {
  const { may } = useSession()
  return may.operate ? children : <ForbiddenPage reason="The role admin is needed." />
}
