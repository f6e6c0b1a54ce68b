import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { kubeconfigAccess, Transport } from '@spout/kube'
import { KINDS, SpoutError } from '@spout/model'
import { Secret } from '@spout/runtime'
import { copyObjects, parsePostgresAddress, SqliteStore, type Store } from '@spout/store'
import { KubernetesStore } from '@spout/store/kubernetes'
import { PostgresStore } from '@spout/store/postgres'
import { UsageError } from '../connections/context.ts'

export interface MigrateOptions {
  /** The SQLite file. */
  readonly from: string
  readonly server?: string
  readonly database: string
  readonly user: string
  readonly passwordFile?: string
  readonly caFile?: string
  readonly tls: boolean
  /** Instead of a server. */
  readonly kubeconfig?: string
  readonly namespace?: string
  readonly name: string
}

/** Where to copy to. */
interface Target {
  /** For people. */
  readonly what: string
  readonly open: () => Promise<Store>
}

/**
 * Copies a SQLite store into an empty one.
 * @returns what was copied, for people
 * @throws UsageError; SpoutError: one of the two cannot be opened, or the other is not empty. Then nothing is copied
 */
export async function migrate(options: MigrateOptions): Promise<string> {
  const { from, server, kubeconfig } = options
  if ((server === undefined) === (kubeconfig === undefined))
    throw new UsageError('one of --server and --kubeconfig is needed: where to copy to')
  const { what, open } = kubeconfig === undefined ? await database(options) : await cluster(kubeconfig, options)
  if (!existsSync(from)) throw new UsageError(`--from ${from}: there is no such file`)
  const source = await SqliteStore.open({ path: from })
  try {
    const target = await open()
    try {
      const counts = await copyObjects(source, target, Object.keys(KINDS)).catch((error: unknown) => {
        if (error instanceof SpoutError && error.code === 'AlreadyExists')
          throw new UsageError(`${what} is not empty: ${error.message}; nothing was copied`)
        throw error
      })
      const lines = [...counts].filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}\n`)
      return `${lines.join('')}copied to ${what}\n`
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function database({
  server = '',
  database: name,
  user,
  passwordFile,
  caFile,
  tls,
}: MigrateOptions): Promise<Target> {
  const address = parsePostgresAddress(server)
  if (address === null) throw new UsageError(`--server ${server}: is no server, such as db1.example:5432`)
  const ca = caFile === undefined ? undefined : await read(caFile)
  const password = passwordFile === undefined ? null : new Secret((await read(passwordFile)).replace(/\r?\n$/, ''))
  const settings = {
    servers: [address],
    database: name,
    user,
    password: async () => password,
    tls: tls ? { ca } : null,
  }
  return { what: `database ${name}`, open: () => PostgresStore.open({ database: settings }) }
}

async function cluster(kubeconfig: string, { namespace, name }: MigrateOptions): Promise<Target> {
  const access = await kubeconfigAccess(kubeconfig).catch((error: Error) => {
    throw new UsageError(`--kubeconfig: ${error.message}`)
  })
  const where = namespace ?? access.namespace
  return {
    what: `store ${name} in namespace ${where}`,
    open: () => KubernetesStore.open({ transport: new Transport({ access }), namespace: where, name }),
  }
}

const read = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(error.message)
  })
