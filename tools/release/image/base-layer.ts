import { existsSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { debianTree } from '../debian-tree.ts'
import { compressedLayer } from './blobs.ts'
import { IMAGE } from './description.ts'

/** Manuals and translations: nobody reads them in an image. Licences stay. */
const LEFT_OUT = [
  ...['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*', '/usr/share/lintian/*'].map(
    (files) => `--dpkgopt=path-exclude=${files}`,
  ),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
]

/**
 * The file system below our packages, as a compressed layer: Debian's essential packages, those that ours need, and tini. No package
 * manager's lists or caches, and no source of packages: a new image brings security updates.
 * @param directory where it is made; one that is there is taken
 */
export async function baseLayer(directory: string, epochSeconds: number): Promise<string> {
  const file = path.join(directory, 'base.tar.gz')
  if (existsSync(`${file}.json`)) return file
  mkdirSync(directory, { recursive: true })
  const unfinished = path.join(directory, 'unfinished.tar')
  rmSync(unfinished, { force: true })
  await debianTree(unfinished, {
    variant: 'essential',
    packages: IMAGE.debianPackages,
    epochSeconds,
    more: [...LEFT_OUT, '--customize-hook=rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*'],
  })
  await compressedLayer(unfinished, file)
  rmSync(unfinished)
  return file
}
