import { childProvisioning, type Snapshot, updatedAt, wireTime } from '../snapshots/snapshot.ts'
import { type Field, rowsOf } from '../wire/field.ts'
import { boolean, list, type Stamp, text, uuid } from '../wire/wire-type.ts'

interface Described {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly enabled: boolean
}

interface Stored {
  readonly snapshot: Snapshot
  readonly model: Described & { readonly createdAt: string; readonly updatedAt: string | null }
}

/** A child before its request says anything. */
export const blankMeta = ({ newId, now }: Stamp) => ({
  id: newId(),
  name: '',
  description: '',
  createdAt: now,
  updatedAt: null,
  tags: [],
  enabled: true,
})

const prose = text({ max: 255 })

/** `description`, which members and health monitors do not have. */
export const descriptionField = <D extends { readonly model: Described }, R extends Stored>(): Field<D, R> =>
  rowsOf<D, R>()('description', prose, {
    since: 0,
    create: 'optional',
    update: true,
    default: '',
    write: (draft, description) => ({ ...draft, model: { ...draft.model, description } }),
    read: ({ model }) => model.description,
  })

/** Fields of every child of a load balancer: name, state, owner, times and tags. */
export function metaFields<D extends { readonly model: Described }, R extends Stored>(): readonly Field<D, R>[] {
  const row = rowsOf<D, R>()
  return [
    row('id', uuid, {
      since: 0,
      // For objects that are moved here from another Octavia. Admission refuses an id that is taken.
      create: 'administrator',
      write: (draft, id) => ({ ...draft, model: { ...draft.model, id } }),
      read: ({ model }) => model.id,
    }),
    row('name', prose, {
      since: 0,
      create: 'optional',
      update: true,
      ifNull: '',
      write: (draft, name) => ({ ...draft, model: { ...draft.model, name } }),
      read: ({ model }) => model.name,
    }),
    row('admin_state_up', boolean, {
      since: 0,
      create: 'optional',
      update: true,
      default: true,
      ifNull: false,
      write: (draft, enabled) => ({ ...draft, model: { ...draft.model, enabled } }),
      read: ({ model }) => model.enabled,
    }),
    row('provisioning_status', text(), { since: 0, read: ({ snapshot, model }) => childProvisioning(snapshot, model) }),
    row('operating_status', text(), { since: 0, read: ({ snapshot, model }) => snapshot.operating(model.id) }),
    row('created_at', text(), { since: 0, read: ({ model }) => wireTime(model.createdAt) }),
    row('updated_at', text(), { since: 0, read: ({ snapshot, model }) => wireTime(updatedAt(snapshot, model)) }),
    row('tags', list(prose, 100), {
      since: 5,
      create: 'optional',
      update: true,
      ifNull: [],
      write: (draft, tags) => ({ ...draft, model: { ...draft.model, tags: [...new Set(tags)] } }),
      read: ({ model }) => model.tags,
    }),
  ]
}

/** The project of a child is its load balancer's; a project in the request is ignored, as Octavia does. */
export function ownerFields<D, R extends Stored>(): readonly Field<D, R>[] {
  const row = rowsOf<D, R>()
  return ['project_id', 'tenant_id'].map((name) =>
    row(name, projectId, { since: 0, create: 'optional', read: ({ snapshot }) => snapshot.lb.projectId }),
  )
}

export const projectId = { ...text({ max: 36 }), queryText: uuid.queryText ?? ((id: string) => id) }
