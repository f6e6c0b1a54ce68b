import { column, type Resource } from './resource.ts'

/** Domains that projects claim. `spout domain claim` makes one. */
export const domain: Resource = {
  noun: 'domain',
  title: 'domain',
  summary: 'domains that projects claim, and prove in DNS',
  path: '/domain-claims',
  within: [],
  columns: [
    column('DOMAIN', 'domain'),
    column('STATE', 'state'),
    column('REASON', 'reason'),
    column('SINCE', 'since'),
    column('MESSAGE', 'message', true),
    column('RECORD', 'record.name', true),
    column('TXT', 'record.value', true),
    column('DESCRIPTION', 'description', true),
    column('PROJECT', 'projectId', true),
    column('ID', 'id', true),
  ],
  fields: [],
  verbs: ['list', 'show', 'delete'],
}
