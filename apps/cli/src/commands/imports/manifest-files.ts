import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { text as readStream } from 'node:stream/consumers'
import { getSystemErrorMessage } from 'node:util'
import { UsageError } from '../connections/context.ts'

export interface ManifestText {
  /** The file's name, for messages. */
  readonly file: string
  readonly text: string
}

/**
 * Reads what `--file` names, like kubectl: files, the YAML and JSON files of directories, or `-` for standard input.
 * @throws UsageError naming what cannot be read
 */
export async function manifestTexts(names: readonly string[]): Promise<readonly ManifestText[]> {
  const texts: ManifestText[] = []
  for (const name of names) {
    if (name === '-') texts.push({ file: 'standard input', text: await readStream(process.stdin) })
    else
      for (const file of await reading(name, filesOf(name)))
        texts.push({ file, text: await reading(file, readFile(file, 'utf8')) })
  }
  return texts
}

/** The objects of what `--file` names. @throws UsageError when there is none, or a file cannot be read */
export async function manifestsOf<T>(
  names: readonly string[],
  read: (file: string, text: string) => readonly T[],
): Promise<readonly T[]> {
  const manifests = (await manifestTexts(names)).flatMap(({ file, text }) => read(file, text))
  if (manifests.length === 0) throw new UsageError(`${names.join(', ')}: no manifest found`)
  return manifests
}

/** Like kubectl: the YAML and JSON files of a directory, without its subdirectories. */
async function filesOf(name: string): Promise<readonly string[]> {
  if (!(await stat(name)).isDirectory()) return [name]
  const names = (await readdir(name)).filter((one) => /\.(ya?ml|json)$/.test(one))
  if (names.length === 0) throw new UsageError(`${name}: a directory without YAML or JSON files`)
  return names.sort().map((one) => path.join(name, one))
}

async function reading<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException
    throw errno === undefined ? error : new UsageError(`${name}: ${getSystemErrorMessage(errno)}`)
  }
}
