import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Secret } from '@spout/runtime'
import { parse } from 'yaml'
import { z } from 'zod'
import { AccessError, type ClientCertificate, type ClusterAccess, type TokenSource } from './cluster-access.ts'

const text = z.string().optional()

const clusterSchema = z.looseObject({
  server: z.string(),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': text,
})
const userSchema = z.looseObject({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
})
const contextSchema = z.looseObject({ cluster: z.string(), user: z.string(), namespace: text })
const configSchema = z.looseObject({
  'current-context': text,
  contexts: z.array(z.looseObject({ name: z.string(), context: z.unknown() })).nullish(),
  clusters: z.array(z.looseObject({ name: z.string(), cluster: z.unknown() })).nullish(),
  users: z.array(z.looseObject({ name: z.string(), user: z.unknown() })).nullish(),
})

/** Fields that change the identity or the target. If we ignored one, we would act as somebody else. */
const REFUSED_OF_USER: Readonly<Record<string, string>> = {
  exec: 'programs that print credentials are not run; use a token, a tokenFile or a client certificate',
  'auth-provider': 'plugins are not supported; use a token, a tokenFile or a client certificate',
  username: 'the API server no longer takes passwords',
  password: 'the API server no longer takes passwords',
  as: 'impersonation is not supported',
  'as-uid': 'impersonation is not supported',
  'as-groups': 'impersonation is not supported',
  'as-user-extra': 'impersonation is not supported',
}
const REFUSED_OF_CLUSTER: Readonly<Record<string, string>> = { 'proxy-url': 'proxies are not supported' }

/**
 * Access with a kubeconfig file. Paths in it are relative to the file. Certificates and keys are read now, a tokenFile
 * when it is used.
 *
 * @param context the current context when left out
 * @throws AccessError naming the file and the field
 */
export async function kubeconfigAccess(file: string, context?: string): Promise<ClusterAccess> {
  const config = check(file, 'the file', configSchema, parseYaml(file, await readText(file, 'kubeconfig')))
  const name = context ?? config['current-context']
  if (!name) throw new AccessError(`${file}: current-context is not set, and no context was named`)
  const chosen = named(file, 'contexts', contextSchema, config.contexts, name, 'context')
  const cluster = named(file, 'clusters', clusterSchema, config.clusters, chosen.value.cluster, 'cluster')
  const user =
    chosen.value.user === ''
      ? { where: 'users', value: {} as z.infer<typeof userSchema> }
      : named(file, 'users', userSchema, config.users, chosen.value.user, 'user')
  refuse(file, cluster, REFUSED_OF_CLUSTER)
  refuse(file, user, REFUSED_OF_USER)
  const server = URL.canParse(cluster.value.server) ? new URL(cluster.value.server) : null
  if (server === null || !['https:', 'http:'].includes(server.protocol))
    throw new AccessError(`${file}: ${cluster.where}.server: "${cluster.value.server}" is not an http or https URL`)
  const token = tokenOf(file, user.value)
  const clientCertificate = await certificateOf(file, user)
  if (server.protocol === 'http:' && (token !== null || clientCertificate !== null))
    throw new AccessError(`${file}: ${cluster.where}.server: credentials are not sent over http`)
  return {
    server,
    ca: await pem(file, cluster, 'certificate-authority'),
    tlsServerName: cluster.value['tls-server-name'] || null,
    skipTlsVerify: cluster.value['insecure-skip-tls-verify'] ?? false,
    token,
    clientCertificate,
    namespace: chosen.value.namespace || 'default',
  }
}

interface Entry<T> {
  /** Path of the entry in the file, for errors. */
  readonly where: string
  readonly value: T
}

function named<T>(
  file: string,
  list: string,
  schema: z.ZodType<T>,
  entries: readonly Readonly<Record<string, unknown>>[] | null | undefined,
  name: string,
  field: string,
): Entry<T> {
  const found = entries?.find((entry) => entry['name'] === name)
  if (found === undefined) throw new AccessError(`${file}: ${list} has no entry named "${name}"`)
  const where = `${list}[${name}].${field}`
  return { where, value: check(file, where, schema, found[field] ?? {}) }
}

function check<T>(file: string, where: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const field = [where, ...(issue?.path ?? [])].join('.')
  throw new AccessError(`${file}: ${field}: ${issue?.message ?? 'not understood'}`)
}

function refuse(file: string, { where, value }: Entry<object>, refused: Readonly<Record<string, string>>): void {
  for (const [field, reason] of Object.entries(refused))
    if (Object.hasOwn(value, field)) throw new AccessError(`${file}: ${where}.${field}: ${reason}`)
}

/** Like kubectl: a file has precedence over a value. */
function tokenOf(file: string, user: z.infer<typeof userSchema>): TokenSource | null {
  if (user.tokenFile) return { type: 'file', path: path.resolve(path.dirname(file), user.tokenFile) }
  return user.token ? { type: 'value', token: new Secret(user.token) } : null
}

async function certificateOf(file: string, user: Entry<object>): Promise<ClientCertificate | null> {
  const certificate = await pem(file, user, 'client-certificate')
  const key = await pem(file, user, 'client-key')
  if (certificate === null && key === null) return null
  if (certificate === null)
    throw new AccessError(`${file}: ${user.where}.client-certificate: missing beside client-key`)
  if (key === null) throw new AccessError(`${file}: ${user.where}.client-key: missing beside client-certificate`)
  return { certificate, key: new Secret(key) }
}

/** Like kubectl: `…-data` has precedence over the file. */
async function pem(file: string, { where, value }: Entry<object>, field: string): Promise<string | null> {
  const fields = value as Readonly<Record<string, unknown>>
  const data = fields[`${field}-data`]
  if (typeof data === 'string' && data !== '') {
    const decoded = Buffer.from(data, 'base64').toString('utf8')
    if (decoded.includes('-----BEGIN ')) return decoded
    throw new AccessError(`${file}: ${where}.${field}-data: not PEM in base64`)
  }
  const named = fields[field]
  if (typeof named !== 'string' || named === '') return null
  return readText(path.resolve(path.dirname(file), named), `${file}: ${where}.${field}`)
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new AccessError(`${what}: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}

function parseYaml(file: string, source: string): unknown {
  try {
    return parse(source)
  } catch (error) {
    // Only the first line: the rest quotes the file, which holds credentials.
    throw new AccessError(`${file}: not YAML: ${(error as Error).message.split('\n')[0]}`)
  }
}
