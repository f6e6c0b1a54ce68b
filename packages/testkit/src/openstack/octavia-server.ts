import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Lab } from '../lab/lab.ts'
import { must, run } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'
import { environmentOf, PYTHON } from './debian-packages.ts'
import { octaviaPackages } from './octavia-packages.ts'

/** As Debian's octavia-api-uwsgi.ini advises. */
const PROCESSES = 2 * availableParallelism()
const START_MS = 180_000
/** Of loopback; the lab's number is added. */
const FIRST_PORT = 19_800

/**
 * The real octavia-api of Debian 12 (Octavia 11.0.0) in front of a MariaDB of its own. Its provider and its network
 * driver do nothing, so a load balancer stays in PENDING_CREATE until `confirm`; it asks for no token. Its data is in the
 * lab's directory, and it ends with the lab.
 */
export interface OctaviaServer {
  /** Base URL, without `/v2`. */
  readonly endpoint: string
  /** Headers that make a request one of this project's. */
  readonly as: (projectId: string) => Readonly<Record<string, string>>
  /** Names of its processes in the lab. */
  readonly processes: readonly string[]
  /** Does what a provider does when it is done: whatever is PENDING becomes ACTIVE, or is gone. */
  readonly confirm: () => Promise<void>
}

const [DATABASE, API] = ['octavia-database', 'octavia-api']
const TABLES = ['l7rule', 'l7policy', 'member', 'health_monitor', 'listener', 'pool', 'load_balancer']
const IS_PENDING = "provisioning_status LIKE 'PENDING_%'"
const DELETED = "provisioning_status = 'PENDING_DELETE'"
/** A request may mark a load balancer between two of the statements: then its children go the next time. */
const IS_GOING = "provisioning_status IN ('PENDING_DELETE', 'DELETED')"
/** The children of a deleted load balancer go with it; nothing shows what is left of them in the database. */
const CONFIRM = [
  'SET FOREIGN_KEY_CHECKS = 0',
  // Otherwise it locks what requests want to change meanwhile.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  // A request marks its load balancer and what it makes in one transaction. One that comes between two statements is
  // confirmed the next time: else its load balancer would be ACTIVE while what it made is still PENDING.
  `CREATE TEMPORARY TABLE begun AS SELECT id FROM load_balancer WHERE ${IS_PENDING}`,
  `UPDATE listener SET default_pool_id = NULL WHERE default_pool_id IN (SELECT id FROM pool WHERE ${DELETED})`,
  ...['listener', 'pool'].map(
    (table) => `DELETE FROM ${table} WHERE load_balancer_id IN (SELECT id FROM load_balancer WHERE ${IS_GOING})`,
  ),
  ...['member', 'health_monitor'].map((table) => `DELETE FROM ${table} WHERE pool_id NOT IN (SELECT id FROM pool)`),
  'DELETE FROM l7policy WHERE listener_id NOT IN (SELECT id FROM listener)',
  'DELETE FROM l7rule WHERE l7policy_id NOT IN (SELECT id FROM l7policy)',
  `UPDATE load_balancer SET provisioning_status = 'DELETED' WHERE ${DELETED}`,
  ...TABLES.slice(0, -1).map((table) => `DELETE FROM ${table} WHERE ${DELETED}`),
  ...TABLES.slice(0, -1).map((table) => `UPDATE ${table} SET provisioning_status = 'ACTIVE' WHERE ${IS_PENDING}`),
  `UPDATE load_balancer SET provisioning_status = 'ACTIVE' WHERE ${IS_PENDING} AND id IN (SELECT id FROM begun)`,
].join('; ')

/** What a database costs that survives a power cut: benchmarks compare with one that does, tests look at answers. */
const NOT_DURABLE = [
  '--innodb-flush-method=nosync',
  '--innodb-flush-log-at-trx-commit=0',
  '--skip-innodb-doublewrite',
] as const

export interface OctaviaOptions {
  /** That answer requests. Each loads the program for itself, which takes several seconds of a processor. */
  readonly processes?: number
  /** Whether what is written survives a power cut. */
  readonly isDurable?: boolean
}

/** Takes a quarter of a minute, and half a minute more the first time in a checkout. */
export async function startOctaviaServer(
  lab: Lab,
  { processes = PROCESSES, isDurable = true }: OctaviaOptions = {},
): Promise<OctaviaServer> {
  const root = await octaviaPackages()
  const directory = path.join(lab.directory, 'octavia')
  const [data, socket] = [path.join(directory, 'database'), path.join(lab.runDirectory, 'octavia-database.sock')]
  for (const each of [directory, lab.runDirectory]) mkdirSync(each, { recursive: true })
  const env = environmentOf(root)
  const inRoot = (file: string): string => path.join(root, 'usr', file)

  const database = ['--no-defaults', `--basedir=${inRoot('')}`, `--datadir=${data}`, '--user=root']
  const login = '--auth-root-authentication-method=normal'
  await must([inRoot('bin/mariadb-install-db'), ...database, login, '--skip-test-db'], { env, timeoutMs: START_MS })
  const sparing = isDurable ? [] : NOT_DURABLE
  const listen = [...sparing, '--skip-networking', `--socket=${socket}`, `--lc-messages-dir=${inRoot('share/mysql')}`]
  await lab.start('host', DATABASE, [inRoot('sbin/mariadbd'), ...database, ...listen], { env })
  const create = ['-e', 'CREATE DATABASE octavia CHARACTER SET utf8']
  const client = [inRoot('bin/mariadb'), '--no-defaults', `--socket=${socket}`, '--user=root']
  await waitFor(async () => (await run([...client, ...create], { env })).code === 0, {
    what: 'MariaDB to take commands',
    timeoutMs: START_MS,
    everyMs: 100,
  })

  const settings = path.join(directory, 'octavia.conf')
  writeFileSync(settings, octaviaSettings(socket))
  // The tables of the first server of a checkout are kept: to make them by some hundred migrations takes ten seconds.
  const kept = path.join(path.dirname(root), 'tables.sql')
  if (existsSync(kept))
    await must([...client, 'octavia'], { env, input: readFileSync(kept, 'utf8'), timeoutMs: START_MS })
  else {
    const migrate = [PYTHON, inRoot('bin/octavia-db-manage'), '--config-file', settings, 'upgrade', 'head']
    await must(migrate, { env, timeoutMs: START_MS })
    const dump = [inRoot('bin/mariadb-dump'), ...client.slice(1), 'octavia']
    const whole = `${kept}-${randomUUID()}`
    writeFileSync(whole, await must(dump, { env, timeoutMs: START_MS }))
    renameSync(whole, kept)
  }

  const port = FIRST_PORT + lab.number
  const ini = path.join(directory, 'uwsgi.ini')
  writeFileSync(ini, uwsgiSettings({ root, settings, port, processes }))
  const { logFile } = await lab.start('host', API, [inRoot('bin/uwsgi-core'), '--ini', ini], { env })
  // Each process loads the program for itself, and the first answers while the others still do.
  await waitFor(() => readFileSync(logFile, 'utf8').match(/^WSGI app 0 .* ready/gm)?.length === processes, {
    what: `octavia-api to be up (log ${logFile})`,
    timeoutMs: START_MS,
    everyMs: 100,
  })
  return {
    endpoint: `http://127.0.0.1:${port}`,
    as: (projectId) => ({ 'x-project-id': projectId }),
    processes: [DATABASE, API],
    confirm: async () => {
      await must([...client, 'octavia', '-e', CONFIRM], { env })
    },
  }
}

const octaviaSettings = (socket: string): string => `
[DEFAULT]
transport_url = fake:///
[api_settings]
auth_strategy = noauth
enabled_provider_drivers = noop_driver:noop
default_provider_driver = noop_driver
[database]
connection = mysql+pymysql://root@localhost/octavia?unix_socket=${socket}
[certificates]
cert_manager = local_cert_manager
[controller_worker]
network_driver = network_noop_driver
[quotas]
default_load_balancer_quota = -1
default_listener_quota = -1
default_pool_quota = -1
default_member_quota = -1
default_health_monitor_quota = -1
`

/**
 * Debian's octavia-api-uwsgi.ini, but for threads: the provider that does nothing fails when several write at once
 * ("dictionary changed size during iteration"). Clients are told that a connection ends, which they would else count as
 * an error.
 */
const uwsgiSettings = (given: {
  readonly root: string
  readonly settings: string
  readonly port: number
  readonly processes: number
}): string => `
[uwsgi]
plugins-dir = ${given.root}/usr/lib/uwsgi/plugins
plugins = python311
buffer-size = 65535
master = true
thunder-lock = true
lazy-apps = true
no-orphans = true
die-on-term = true
enable-threads = true
processes = ${given.processes}
listen = 100
disable-logging = true
add-header = Connection: close
wsgi-file = ${given.root}/usr/bin/octavia-wsgi
pyargv = --config-file ${given.settings}
http-socket = 127.0.0.1:${given.port}
`
