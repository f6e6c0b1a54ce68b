import { parse } from 'yaml'
import { z } from 'zod'

/** A cloud cannot be reached as it is described; the message says what is wrong. */
export class BadCloud extends Error {
  override readonly name = 'BadCloud'
}

/** Where a cloud is, and as whom to log in, from `clouds.yaml` or the `OS_*` variables. */
export interface Cloud {
  /** `none` asks for no token. */
  readonly authType: 'none' | 'password' | 'applicationCredential' | 'token'
  /** The fields of `clouds.yaml`, such as `auth_url` and `project_name`. */
  readonly auth: Readonly<Record<string, string>>
  readonly region: string | null
  readonly interface: string
  /** The base URL of its Octavia; null: that of the catalog. */
  readonly endpoint: string | null
  /** The base URL of its Neutron; null: that of the catalog, if there is one. */
  readonly networkEndpoint: string | null
}

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const cloudEntry = z.looseObject({
  auth_type: z.string().optional(),
  auth: z.record(z.string(), text.nullable()).optional(),
  region_name: z.string().optional(),
  interface: z.string().optional(),
  load_balancer_endpoint_override: z.string().optional(),
  network_endpoint_override: z.string().optional(),
})
const cloudsFile = z.looseObject({ clouds: z.record(z.string(), cloudEntry).default({}) })
type CloudEntry = z.output<typeof cloudEntry>

/** The clouds of a `clouds.yaml`, by name. @param file its name, for messages @throws BadCloud */
export function readClouds(file: string, content: string): Readonly<Record<string, CloudEntry>> {
  try {
    return cloudsFile.parse(parse(content) ?? {}).clouds
  } catch (error) {
    if (error instanceof z.ZodError) {
      const [issue] = error.issues
      throw new BadCloud(`${file}: ${issue?.path.join('.')}: ${issue?.message}`)
    }
    throw new BadCloud(`${file}: ${(error as Error).message}`)
  }
}

export interface CloudSources {
  /** The cloud's name; null: the `OS_*` variables describe it. */
  readonly name: string | null
  /** The clouds of each `clouds.yaml`. The first file that has the cloud counts. */
  readonly clouds: readonly Readonly<Record<string, CloudEntry>>[]
  /** The clouds of each `secure.yaml`, whose secrets are added. */
  readonly secrets: readonly Readonly<Record<string, CloudEntry>>[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Replaces the Octavia of the catalog. When no cloud is named or described, it is called without a token. */
  readonly endpoint: string | null
  /** Replaces the Neutron of the catalog. */
  readonly networkEndpoint?: string | undefined
}

const AUTH_TYPES: Readonly<Record<string, Cloud['authType']>> = {
  none: 'none',
  noauth: 'none',
  password: 'password',
  v3password: 'password',
  v3applicationcredential: 'applicationCredential',
  token: 'token',
  v3token: 'token',
}

/** @throws BadCloud */
export function cloudOf({ name, clouds, secrets, env, endpoint, networkEndpoint }: CloudSources): Cloud {
  const entry = name === null ? entryOf(env, endpoint) : named(name, clouds)
  const secret = name === null ? undefined : secrets.find((all) => name in all)?.[name]
  const given = Object.entries({ ...entry.auth, ...secret?.auth })
  const auth = Object.fromEntries(given.flatMap(([field, value]) => (value === null ? [] : [[field, value]])))
  const usual = 'application_credential_id' in auth ? 'v3applicationcredential' : 'password'
  const authType = AUTH_TYPES[entry.auth_type ?? usual]
  if (authType === undefined) throw new BadCloud(`auth_type ${entry.auth_type} is not known here`)
  const own = endpoint ?? entry.load_balancer_endpoint_override ?? (authType === 'none' ? auth['endpoint'] : undefined)
  if (authType === 'none' && own === undefined)
    throw new BadCloud('without a token there is no catalog: name the endpoint (auth.endpoint, or --endpoint)')
  if (authType !== 'none' && auth['auth_url'] === undefined) throw new BadCloud('auth_url is missing')
  return {
    ...{ authType, auth, endpoint: own ?? null },
    networkEndpoint: networkEndpoint ?? entry.network_endpoint_override ?? null,
    region: entry.region_name ?? null,
    interface: (entry.interface ?? 'public').replace(/URL$/, ''),
  }
}

function named(name: string, clouds: CloudSources['clouds']): CloudEntry {
  const found = clouds.find((all) => name in all)?.[name]
  if (found === undefined) throw new BadCloud(`no clouds.yaml has cloud ${name}`)
  return found
}

/** The cloud that the variables describe: `OS_PROJECT_NAME` is `project_name`. */
function entryOf(env: CloudSources['env'], endpoint: string | null): CloudEntry {
  const own = Object.entries(env).flatMap(([variable, value]) =>
    variable.startsWith('OS_') && value ? [[variable.slice(3).toLowerCase(), value] as const] : [],
  )
  const { auth_type, region_name, interface: side, endpoint_type, ...auth } = Object.fromEntries(own)
  const which = auth_type ?? (auth['auth_url'] === undefined && endpoint !== null ? 'none' : undefined)
  if (which === undefined && auth['auth_url'] === undefined)
    throw new BadCloud('name the cloud: --os-cloud NAME, the OS_* variables, or --endpoint URL without a token')
  return {
    auth,
    ...(which !== undefined && { auth_type: which }),
    ...(region_name !== undefined && { region_name }),
    ...((side ?? endpoint_type) !== undefined && { interface: side ?? endpoint_type }),
  }
}
