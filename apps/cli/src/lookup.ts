import { call, type Session } from '@spout/client/api'
import { SpoutError } from '@spout/model'
import type { Row } from './resources/resource.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Items {
  readonly items: readonly Row[]
}

/** Takes an id as it is and turns a name into the id of the one object that has it. @throws SpoutError */
export async function findByName(session: Session, path: string, what: string, nameOrId: string): Promise<Row> {
  if (UUID.test(nameOrId)) return call<Row>(session, 'GET', `${path}/${nameOrId}`)
  const { items } = await call<Items>(session, 'GET', `${path}?name=${encodeURIComponent(nameOrId)}`)
  return theOnly(items, what, nameOrId)
}

/** The part of this name or id. @throws SpoutError */
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
    throw new SpoutError('InvalidField', { field: what, reason: `${found.length} have the name ${name}: use the id` })
  return first
}

export const listOf = async (session: Session, path: string): Promise<readonly Row[]> =>
  (await call<Items>(session, 'GET', path)).items
