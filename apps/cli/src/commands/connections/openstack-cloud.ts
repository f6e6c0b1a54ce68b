import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type {
  CloudSources,
  NeutronClient as NeutronClientType,
  OctaviaClient as OctaviaClientType,
} from '@spout/octavia-client'
import { type CommandContext, UsageError } from './context.ts'

/**
 * Reads the files that describe clouds, as openstacksdk does: `OS_CLIENT_CONFIG_FILE`, else `clouds.yaml` in the current
 * directory, in `~/.config/openstack` and in `/etc/openstack`, each with the `secure.yaml` beside it.
 * @throws BadCloud for a file that is no clouds.yaml
 */
async function cloudSources(name: string | null, env: CloudSources['env']): Promise<Omit<CloudSources, 'endpoint'>> {
  if (name === null) return { name, env, clouds: [], secrets: [] }
  const { readClouds } = await import('@spout/octavia-client')
  const own = env.OS_CLIENT_CONFIG_FILE
  const usual = ['.', path.join(env.HOME ?? homedir(), '.config', 'openstack'), '/etc/openstack']
  const files = own === undefined ? usual.map((directory) => path.join(directory, 'clouds.yaml')) : [own]
  const read = async (file: string) => {
    const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    return readClouds(file, content)
  }
  const beside = (file: string): string => path.join(path.dirname(file), 'secure.yaml')
  return {
    ...{ name, env },
    clouds: await Promise.all(files.map(read)),
    secrets: await Promise.all(files.map(beside).map(read)),
  }
}

interface CloudOptions {
  readonly osCloud?: string
  readonly endpoint?: string
  readonly networkEndpoint?: string
}

interface CloudClients {
  readonly octavia: OctaviaClientType
  /** Null when the cloud has no Neutron. */
  readonly neutron: NeutronClientType | null
}

/**
 * The Octavia and the Neutron of the cloud that the options name, or else `OS_CLOUD` or the `OS_*` variables.
 * @param signal ends its calls
 * @throws UsageError for a cloud that cannot be logged in to
 */
export async function cloudClients(
  { osCloud, endpoint, networkEndpoint }: CloudOptions,
  context: CommandContext,
  signal = context.signal,
): Promise<CloudClients> {
  const { BadCloud, cloudOf, login, NeutronClient, OctaviaClient } = await import('@spout/octavia-client')
  try {
    const sources = await cloudSources(osCloud ?? context.env.OS_CLOUD ?? null, context.env)
    const access = await login(cloudOf({ ...sources, endpoint: endpoint ?? null, networkEndpoint }), signal)
    const { headers, networkEndpoint: network } = access
    return {
      octavia: new OctaviaClient(access.endpoint, headers, signal),
      neutron: network === null ? null : new NeutronClient(network, headers, signal),
    }
  } catch (error) {
    throw error instanceof BadCloud ? new UsageError(error.message) : error
  }
}

/** The Octavia alone. @throws UsageError as `cloudClients` */
export const cloudClient = async (...given: Parameters<typeof cloudClients>): Promise<OctaviaClientType> =>
  (await cloudClients(...given)).octavia
