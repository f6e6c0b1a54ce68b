import { column, commaList, type Resource } from './resource.ts'

/** Other texts are left for the server to refuse. */
const time = (text: string): unknown => (Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString())

export const applicationCredential: Resource = {
  noun: 'credential',
  title: 'application credential',
  summary: 'your application credentials for the project: what programs log in with',
  path: '/application-credentials',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('ROLES', 'roles'),
    column('EXPIRES', 'expiresAt'),
    column('DESCRIPTION', 'description', true),
    column('ID', 'id'),
  ],
  shownOnce: [column('SECRET', 'secret')],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description', only: 'create' },
    {
      flags: '--roles <roles>',
      description: 'roles that you have, comma-separated, or balancer; default: all of yours',
      field: 'roles',
      only: 'create',
      parse: commaList,
    },
    {
      flags: '--expires <time>',
      description: 'such as 2027-01-31T12:00:00Z; default: it is valid until it is deleted',
      field: 'expiresAt',
      only: 'create',
      parse: time,
    },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}
