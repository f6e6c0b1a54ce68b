import { readFileSync } from 'node:fs'
import { SpoutError } from '@spout/model'
import { column, commaList, type Resource } from './resource.ts'

/** The content of a file. The text itself is never an argument: others could read it in the list of processes. */
const fileOf =
  (field: string) =>
  (file: string): string => {
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      throw new SpoutError('InvalidField', { field, reason: (error as Error).message })
    }
  }

export const certificate: Resource = {
  noun: 'certificate',
  title: 'certificate',
  summary: 'certificates of listeners and pools that speak TLS',
  path: '/certificates',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('NAMES', 'names'),
    column('USE', 'use'),
    column('STATE', 'status.state'),
    column('EXPIRES', 'notAfter'),
    column('KEY', 'keyType'),
    column('ISSUER', 'issuer', true),
    column('SUBJECT', 'subject', true),
    column('FROM', 'notBefore', true),
    column('SHA-256', 'fingerprint', true),
    column('MESSAGE', 'status.message', true),
    column('PROJECT', 'projectId', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    { flags: '--tags <tags>', description: 'comma-separated', field: 'tags', parse: commaList },
    { flags: '--project <project>', description: 'owner (administrators)', field: 'project', only: 'create' },
    {
      flags: '--chain <file>',
      description:
        'PEM: the certificate and those that issued it; or certificates of authorities; or their revocation lists',
      field: 'chain',
      parse: fileOf('chain'),
    },
    {
      flags: '--key <file>',
      description: 'PEM: its private key, without a passphrase; not for authorities and revocation lists',
      field: 'key',
      parse: fileOf('key'),
    },
    {
      flags: '--users <file>',
      description: 'instead of both: users as htpasswd writes them, for routes that ask for a password',
      field: 'users',
      parse: fileOf('users'),
    },
  ],
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}
