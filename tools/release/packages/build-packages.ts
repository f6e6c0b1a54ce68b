import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Build } from './control-file.ts'
import { debFile } from './deb-file.ts'
import { placeFiles } from './package-files.ts'
import { type DebianPackage, PACKAGES } from './package-table.ts'

/** Debian's words for the processors that Node.js is pinned for. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export interface PackageBuild {
  /** The checkout. Its native programs are built. */
  readonly root: string
  /** Version in Debian's form. */
  readonly version: string
  /** Time of every file, in seconds since 1970: the commit's. */
  readonly epochSeconds: number
}

/** The processor that packages are built for: the one that they are built on. */
export function architecture(): string {
  const known = ARCHITECTURES[process.arch]
  if (known === undefined) throw new Error(`there is no Node.js for ${process.arch} in the lock file`)
  return known
}

/**
 * Builds our Debian packages into a directory.
 * @returns the files, in the order of the table
 */
export async function buildPackages(
  { root, version, epochSeconds }: PackageBuild,
  directory: string,
  packages: readonly DebianPackage[] = PACKAGES,
): Promise<readonly string[]> {
  const build: Build = { version, architecture: architecture() }
  mkdirSync(directory, { recursive: true })
  const staging = mkdtempSync(path.join(tmpdir(), 'spout-packages-'))
  try {
    const files: string[] = []
    for (const one of packages) {
      const tree = path.join(staging, one.name)
      mkdirSync(tree)
      await placeFiles(root, one, tree)
      files.push(await debFile(one, build, tree, directory, epochSeconds))
    }
    return files
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
