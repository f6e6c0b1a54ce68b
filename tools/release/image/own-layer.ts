import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { settle } from '../packages/deb-file.ts'
import { installedText, LIBRARY } from '../packages/installed-text.ts'
import { compressedLayer } from './blobs.ts'
import { IMAGE } from './description.ts'

export interface OwnLayer {
  readonly root: string
  /** Our packages. */
  readonly packages: readonly string[]
  /** The bill of materials, JSON. */
  readonly bill: string
  readonly epochSeconds: number
}

/**
 * The files of our packages, the entry point and the bill, as a compressed layer. Their maintainer scripts are for machines with a
 * service manager, so they do not run. What dpkg would say of them is in `/var/lib/dpkg/status.d`, where scanners look.
 */
export async function ownLayer({ root, packages, bill, epochSeconds }: OwnLayer, directory: string): Promise<string> {
  const tree = mkdtempSync(path.join(directory, 'tree-'))
  const [tar, file] = [path.join(directory, 'own.tar'), path.join(directory, 'own.tar.gz')]
  const inTree = (name: string): string => {
    const placed = path.join(tree, name)
    mkdirSync(path.dirname(placed), { recursive: true })
    return placed
  }
  for (const one of packages) {
    await must(['dpkg-deb', '--extract', one, tree], { timeoutMs: 300_000 })
    const name = (await must(['dpkg-deb', '--field', one, 'Package'])).trim()
    writeFileSync(inTree(`/var/lib/dpkg/status.d/${name}`), await must(['dpkg-deb', '--field', one]))
  }
  const entrypoint = readFileSync(path.join(root, IMAGE.entrypointSource), 'utf8')
  writeFileSync(inTree(`${LIBRARY}/entrypoint.sh`), installedText(entrypoint))
  writeFileSync(inTree('/usr/share/doc/spout/sbom.json'), bill)
  for (const one of IMAGE.stateDirectories) mkdirSync(path.join(tree, one), { recursive: true })
  settle(tree, epochSeconds)
  for (const one of IMAGE.stateDirectories) chownSync(path.join(tree, one), IMAGE.user, IMAGE.user)
  await must(['tar', ...SAME_BYTES, '--create', '--file', tar, '--directory', tree, '.'], { timeoutMs: 120_000 })
  rmSync(tree, { recursive: true })
  await compressedLayer(tar, file)
  return file
}

/** Options of tar: the same files give the same bytes. */
export const SAME_BYTES = ['--sort=name', '--numeric-owner', '--format=gnu', '--no-xattrs', '--no-acls'] as const
