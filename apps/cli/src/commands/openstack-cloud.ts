import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import type { CloudSources } from '@spout/octavia-import'

/**
 * What says where clouds are, as openstacksdk finds it: `OS_CLIENT_CONFIG_FILE`, else `clouds.yaml` in the current
 * directory, in `~/.config/openstack` and in `/etc/openstack`, each with the `secure.yaml` beside it.
 * @throws BadCloud for a file that is no clouds.yaml
 */
export async function cloudSources(
  name: string | null,
  env: CloudSources['env'],
): Promise<Omit<CloudSources, 'endpoint'>> {
  if (name === null) return { name, env, clouds: [], secrets: [] }
  const { readClouds } = await import('@spout/octavia-import')
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
