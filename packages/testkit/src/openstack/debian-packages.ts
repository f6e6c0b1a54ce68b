import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '../lab/run.ts'
import { THIS_CHECKOUT } from '../system/checkout.ts'

/** Debian's: the packages belong to it. */
export const PYTHON = '/usr/bin/python3'

const DOWNLOAD = [
  ...['apt-get', 'install', '-qq', '-y', '--no-install-recommends', '--download-only'],
  ...['-o', 'DPkg::Lock::Timeout=300'],
]

/**
 * Packages of Debian, unpacked into a directory of this checkout instead of installed: no user, service or configuration
 * of the machine changes.
 *
 * @param name of the directory in `build`
 * @returns the directory that stands for `/`; what the machine has installed already is not in it
 */
export async function unpackedPackages(name: string, packages: readonly string[]): Promise<string> {
  const cache = path.join(THIS_CHECKOUT, 'build', name)
  const root = path.join(cache, 'root')
  if (existsSync(root)) return root
  process.stderr.write(`Downloading and unpacking ${packages.join(', ')} from Debian into build/${name}.\n`)
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(path.join(cache, 'unpacking-'))
  try {
    const [archives, unpacked] = [path.join(directory, 'packages'), path.join(directory, 'root')]
    mkdirSync(path.join(archives, 'partial'), { recursive: true })
    const argv = [...DOWNLOAD, '-o', `Dir::Cache::archives=${archives}`, ...packages]
    if ((await run(argv, { timeoutMs: 600_000 })).code !== 0) {
      await must(['apt-get', 'update', '-qq'], { timeoutMs: 300_000 })
      await must(argv, { timeoutMs: 600_000 })
    }
    for (const file of globSync('*.deb', { cwd: archives }))
      await must(['dpkg-deb', '--extract', path.join(archives, file), unpacked])
    try {
      renameSync(unpacked, root)
    } catch (error) {
      // Another process has unpacked them meanwhile.
      if (!existsSync(root)) throw error
    }
    return root
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What the programs of such a directory need in their environment. */
export function environmentOf(root: string): Readonly<Record<string, string>> {
  const libraries = globSync(['lib/*-linux-gnu', 'usr/lib/*-linux-gnu'], { cwd: root })
  return {
    LD_LIBRARY_PATH: libraries.map((each) => path.join(root, each)).join(':'),
    PYTHONPATH: path.join(root, 'usr/lib/python3/dist-packages'),
    PYTHONWARNINGS: 'ignore',
  }
}
