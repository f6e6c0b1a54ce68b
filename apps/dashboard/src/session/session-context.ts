import { createContext, useContext } from 'react'
import type { PageSession } from './page-session.ts'
import { type Rights, rightsOf } from './rights.ts'

export const SessionContext = createContext<PageSession | null>(null)

/** Who uses the page. Only below `SessionGate`. */
export function useSession(): PageSession & { readonly may: Rights } {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('there is no session here')
  return { ...session, may: rightsOf(session.roles) }
}
