import { call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model'
import { isOwned, type Row } from './resources/resource.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A session that looks for names in one project, because several projects may use one name. */
export interface ScopedSession extends Session {
  readonly projectId?: string
}

/** @param project its name or id; left out: names are looked for in all projects that the token may read */
export async function scopedTo(session: Session, project: string | undefined): Promise<ScopedSession> {
  if (project === undefined) return session
  return { ...session, projectId: String((await findByName(session, '/projects', 'project', project)).id) }
}

interface Items {
  readonly items: readonly Row[]
}

/**
 * Reads the object with this id, or the only one with this name.
 * @throws SpoutError NotFound; InvalidField when several have the name
 */
export async function findByName(session: ScopedSession, path: string, what: string, nameOrId: string): Promise<Row> {
  if (UUID.test(nameOrId)) return call<Row>(session, 'GET', `${path}/${nameOrId}`)
  const query = new URLSearchParams({ name: nameOrId, ...ownerQuery(session, path) })
  const { items } = await call<Items>(session, 'GET', `${path}?${query}`)
  return theOnly(items, what, nameOrId)
}

/** The part with this name or id. @throws SpoutError as `findByName` */
export const findPart = (parts: readonly Row[], what: string, nameOrId: string): Row =>
  theOnly(
    parts.filter((part) => part.id === nameOrId || part.name === nameOrId),
    what,
    nameOrId,
  )

function theOnly(found: readonly Row[], what: string, name: string): Row {
  const [first, second] = found
  if (first === undefined) throw new SpoutError('NotFound', { what, id: name })
  if (second !== undefined)
    throw new SpoutError('InvalidField', {
      field: what,
      reason: `${found.length} have the name ${name}: use the id, or name the project`,
    })
  return first
}

export const listOf = async (session: ScopedSession, path: string): Promise<readonly Row[]> => {
  const query = new URLSearchParams(ownerQuery(session, path))
  return (await call<Items>(session, 'GET', query.size === 0 ? path : `${path}?${query}`)).items
}

const ownerQuery = ({ projectId }: ScopedSession, path: string): Readonly<Record<string, string>> =>
  projectId !== undefined && isOwned({ path }) ? { project: projectId } : {}
