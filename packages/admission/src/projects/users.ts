import { type ApplicationCredential, applicationCredential, parseAs, SpoutError, type User, user } from '@spout/model'
import { type AdmissionContext, deleteOf, find, putNew, putOver, transact } from '../claims/context.ts'
import { claimObjectRoom } from '../claims/object-room.ts'
import { requireProject } from '../claims/projects-of.ts'

/** Creates or replaces a user. */
export async function putUser(context: AdmissionContext, input: User): Promise<User> {
  const wanted = parseAs(user, input)
  return transact(context, (claim) => {
    const { view } = context
    const taken = view.list('user').some(({ id, name }) => name === wanted.name && id !== wanted.id)
    if (taken || !claim.name(`user/${wanted.name}`))
      throw new SpoutError('NameTaken', { field: 'name', what: 'a user', name: wanted.name })
    for (const [index, { projectId }] of wanted.roles.entries())
      if (view.get('project', projectId) === null)
        throw new SpoutError('ReferenceNotFound', {
          field: `roles[${index}].projectId`,
          what: 'project',
          id: projectId,
        })
    const stored = view.get('user', wanted.id)
    return { writes: [stored === null ? putNew('user', wanted) : putOver('user', stored, wanted)], result: wanted }
  })
}

/** Deletes a user with all credentials and tokens. */
export async function deleteUser(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const { view } = context
    const stored = find(context, 'user', id, 'user')
    const credentials = view
      .list('applicationCredential')
      .flatMap((one) => (one.userId === id ? (view.get('applicationCredential', one.id) ?? []) : []))
    const tokens = view.list('token').flatMap((one) => (one.userId === id ? (view.get('token', one.id) ?? []) : []))
    return {
      writes: [
        deleteOf('user', stored),
        ...credentials.map((one) => deleteOf('applicationCredential', one)),
        ...tokens.map((one) => deleteOf('token', one)),
      ],
      result: undefined,
    }
  })
}

/**
 * Creates or replaces an application credential. Its bytes use its project's quota.
 * @throws SpoutError ReferenceNotFound, OverQuota
 */
export async function putApplicationCredential(context: AdmissionContext, input: ApplicationCredential): Promise<void> {
  const wanted = parseAs(applicationCredential, input)
  await transact(context, (claim) => {
    const { view } = context
    if (view.get('user', wanted.userId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'userId', what: 'user', id: wanted.userId })
    requireProject(context, wanted.projectId)
    claimObjectRoom(claim, 'applicationCredential', wanted)
    const stored = view.get('applicationCredential', wanted.id)
    const write =
      stored === null ? putNew('applicationCredential', wanted) : putOver('applicationCredential', stored, wanted)
    return { writes: [write], result: undefined }
  })
}

export async function deleteApplicationCredential(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => ({
    writes: [deleteOf('applicationCredential', find(context, 'applicationCredential', id, 'application credential'))],
    result: undefined,
  }))
}
