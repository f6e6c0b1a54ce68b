import { readFileSync } from 'node:fs'
import { call } from '@spout/client/api'
import { SpoutError } from '@spout/model'
import { randomSecret } from '@spout/runtime/random-secret'
import type { Resource, Row } from '../resources/resource.ts'
import { collection, ownedBy } from './collection.ts'
import type { Noun } from './noun.ts'

const MADE_PASSWORD_BYTES = 18

/** A user with one role on one project. Passwords are not arguments, because other processes can see those. */
export const users = (resource: Resource): Noun => ({
  ...collection(resource),
  create: async (session, _within, name, { project, role, passwordFile, ...rest }) => {
    if (role !== undefined && project === undefined) throw new SpoutError('MissingField', { field: '--project' })
    const { projectId } = await ownedBy(session, project)
    const roles = projectId === undefined ? [] : [{ projectId, role: role ?? 'member' }]
    const made = passwordFile === undefined ? randomSecret(MADE_PASSWORD_BYTES) : null
    const password = made ?? passwordIn(String(passwordFile))
    const created = await call<Row>(session, 'POST', resource.path, { name, ...rest, password, roles })
    return made === null ? created : { ...created, password: made }
  },
})

/** The only line of a file. @throws SpoutError */
function passwordIn(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new SpoutError('InvalidField', { field: '--password-file', reason: (error as Error).message })
  }
}
