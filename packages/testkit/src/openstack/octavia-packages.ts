import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '../lab/run.ts'
import { THIS_CHECKOUT } from '../system/checkout.ts'

const PACKAGES = ['octavia-api', 'mariadb-server', 'uwsgi-core', 'uwsgi-plugin-python3']
const CACHE = path.join(THIS_CHECKOUT, 'build', 'octavia')

/**
 * Debian's octavia-api with MariaDB and uWSGI, unpacked into a directory of this checkout instead of installed: no user,
 * service or configuration of the machine changes. The first call downloads 48 MB of packages and takes half a minute.
 *
 * @returns the directory that stands for `/`; what the machine has installed already is not in it
 */
export async function octaviaPackages(): Promise<string> {
  const root = path.join(CACHE, 'root')
  if (existsSync(root)) return root
  process.stderr.write('Downloading and unpacking octavia-api, MariaDB and uWSGI from Debian into build/octavia.\n')
  mkdirSync(CACHE, { recursive: true })
  const directory = mkdtempSync(path.join(CACHE, 'unpacking-'))
  try {
    const [packages, unpacked] = [path.join(directory, 'packages'), path.join(directory, 'root')]
    mkdirSync(path.join(packages, 'partial'), { recursive: true })
    const download = [
      'apt-get',
      'install',
      '-qq',
      '-y',
      '--no-install-recommends',
      '--download-only',
      '-o',
      'DPkg::Lock::Timeout=300',
    ]
    const argv = [...download, '-o', `Dir::Cache::archives=${packages}`, ...PACKAGES]
    if ((await run(argv, { timeoutMs: 600_000 })).code !== 0) {
      await must(['apt-get', 'update', '-qq'], { timeoutMs: 300_000 })
      await must(argv, { timeoutMs: 600_000 })
    }
    for (const file of globSync('*.deb', { cwd: packages }))
      await must(['dpkg-deb', '--extract', path.join(packages, file), unpacked])
    renameSync(unpacked, root)
    return root
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
