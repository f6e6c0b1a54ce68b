import { type Catalogue, checkOf, type Found, runbook } from '@spout/runtime/findings'
import { type DatabaseServersReading, readDatabaseServers } from '../readings/database-servers.ts'

const FINDINGS = {
  DatabaseReadOnly: {
    level: 'error',
    what: 'no server of `store.postgres.servers` takes writes',
    why: 'Changes are refused. Nodes go on with what they have.',
    fix: 'start the server, or promote a standby: `SELECT pg_promote()`',
  },
  DatabaseServerUnusable: {
    level: 'warning',
    what: 'a server of `store.postgres.servers` does not answer, or cannot be used',
    why: 'If the one that takes writes fails, this one cannot take over.',
    fix: '`psql -h HOST -p PORT -U USER DATABASE` shows the same; then its log',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

export function judgeDatabaseServers(servers: DatabaseServersReading): readonly Finding[] {
  if (servers === null) return []
  const unusable = servers.filter(({ state }) => state === 'unusable')
  const standbys = servers.filter(({ state }) => state === 'standby').map(({ server }) => server)
  return [
    ...(servers.some(({ state }) => state === 'writes') ? [] : [readOnly(standbys)]),
    ...unusable.map(
      ({ server, reason }): Finding => ({
        ...{ code: 'DatabaseServerUnusable', subject: server, message: `It cannot be used: ${reason}.` },
        fix: `see that PostgreSQL runs there, and lets this machine in (pg_hba.conf): ${runbook('The store takes no writes')}`,
      }),
    ),
  ]
}

const readOnly = (standbys: readonly string[]): Finding => ({
  ...{ code: 'DatabaseReadOnly', subject: null },
  message: `No server takes writes${standbys.length === 0 ? '' : `; ${standbys.join(' and ')} ${standbys.length === 1 ? 'is a standby' : 'are standbys'}`}.`,
  fix:
    standbys.length === 0
      ? runbook('The store takes no writes')
      : `start the primary, or on ${standbys[0]}: psql -c 'SELECT pg_promote()'`,
})

export const databaseServers = checkOf({
  name: 'database',
  catalogue: FINDINGS,
  read: readDatabaseServers,
  judge: judgeDatabaseServers,
  right: (servers) =>
    servers === null
      ? 'The store is not in PostgreSQL.'
      : `${servers.map(({ server, state }) => `${server} ${state === 'writes' ? 'takes writes' : 'is a standby'}`).join(', ')}.`,
})
