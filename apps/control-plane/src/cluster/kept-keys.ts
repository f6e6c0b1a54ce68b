import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isConflict, KubeClient, SECRETS, type Transport } from '@spout/kube'
import { ConfigError } from '@spout/runtime/config'

export interface KeptKeysOptions {
  readonly transport: Transport
  readonly namespace: string
  /** Of the Secret, which is there. */
  readonly name: string
  readonly stateDirectory: string
  /** Files of the state directory, by their names in the Secret. */
  readonly files: Readonly<Record<string, string>>
  /** Makes the files that are not there. */
  readonly make: () => Promise<void>
}

/**
 * Makes the keys in the state directory those of a Secret. If that is empty, those of the state directory, which are made
 * if it has none, become those of the Secret. So a state directory may be lost, and several control planes have the same
 * keys.
 * @throws ConfigError: there is no such Secret, it is not whole, or the state directory has other keys
 */
export async function keepKeys(options: KeptKeysOptions): Promise<void> {
  const { transport, namespace, name, files, make } = options
  const client = new KubeClient(transport)
  for (;;) {
    const secret = await client.get(SECRETS, { namespace, name })
    if (secret === null)
      throw new ConfigError(`store.kubernetes.keysSecret: there is no Secret ${name} in ${namespace}`)
    const { data = {} } = secret
    if (Object.keys(files).some((key) => key in data)) return takeOver(options, data)
    const own = await present(options)
    await make()
    try {
      await client.replace(SECRETS, { ...secret, data: { ...data, ...(await contents(options)) } })
      return
    } catch (error) {
      if (!isConflict(error)) throw error
      // Another process was faster: its keys count.
      for (const file of Object.values(files)) if (!own.has(file)) await rm(placeOf(options, file))
    }
  }
}

async function takeOver(options: KeptKeysOptions, data: Readonly<Record<string, string>>): Promise<void> {
  const { name, namespace, files } = options
  for (const [key, file] of Object.entries(files)) {
    const kept = data[key]
    if (kept === undefined)
      throw new ConfigError(`store.kubernetes.keysSecret: Secret ${name} in ${namespace} has no ${key}`)
    const place = placeOf(options, file)
    const there = await readOrNull(place)
    const content = Buffer.from(kept, 'base64')
    if (there?.equals(content)) continue
    if (there !== null)
      throw new ConfigError(
        `store.kubernetes.keysSecret: ${place} differs from ${key} of Secret ${name} in ${namespace}`,
      )
    await mkdir(path.dirname(place), { recursive: true, mode: 0o700 })
    await writeFile(place, content, { mode: 0o600, flag: 'wx', flush: true })
  }
}

/** The files that are there. */
async function present(options: KeptKeysOptions): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const file of Object.values(options.files))
    if ((await readOrNull(placeOf(options, file))) !== null) found.add(file)
  return found
}

async function contents(options: KeptKeysOptions): Promise<Readonly<Record<string, string>>> {
  const entries = Object.entries(options.files).map(
    async ([key, file]) => [key, (await readFile(placeOf(options, file))).toString('base64')] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

const placeOf = ({ stateDirectory }: KeptKeysOptions, file: string): string => path.join(stateDirectory, file)

async function readOrNull(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
