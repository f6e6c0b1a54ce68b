import { ask } from '../api/ask.ts'
import type { Login, LoginWays, PageSession } from './page-session.ts'
import { keepPlace } from './place-before.ts'

export const readSession = (signal?: AbortSignal): Promise<PageSession> =>
  ask('GET', '/session', signal === undefined ? {} : { signal })

/** Logs in. A user with one project is logged in to that. @throws Problem 401 when refused */
export async function logIn(login: Login): Promise<PageSession> {
  const session = await ask<PageSession>('POST', '/session', { body: login })
  const [only, ...others] = session.projects
  if (session.projectId !== null || only === undefined || others.length > 0) return session
  return switchProject(only.id)
}

export const switchProject = (projectId: string): Promise<PageSession> =>
  ask('PUT', '/session/project', { body: { projectId } })

export const logOut = (): Promise<void> => ask('DELETE', '/session')

export const readLoginWays = (signal: AbortSignal): Promise<LoginWays> => ask('GET', '/session/ways', { signal })

/** Leaves the page for the OpenID Connect provider, which sends the browser back. @throws Problem 503 when it is away */
export async function goToProvider(): Promise<void> {
  const { url } = await ask<{ url: string }>('POST', '/session/oidc')
  keepPlace()
  location.assign(url)
}
