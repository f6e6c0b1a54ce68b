import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { architecture } from '../packages/build-packages.ts'
import { settle } from '../packages/deb-file.ts'
import { baseLayer } from './base-layer.ts'
import { layerBlob } from './blobs.ts'
import { IMAGE } from './description.ts'
import { writeLayout } from './oci-layout.ts'
import { ownLayer, SAME_BYTES } from './own-layer.ts'

export interface ImageBuild {
  readonly root: string
  /** Our packages, of this version. */
  readonly packages: readonly string[]
  readonly version: string
  readonly bill: string
  readonly commit: string
  readonly committedAt: string
  readonly epochSeconds: number
  /** Directory of a tree of Debian that an earlier build left; null takes today's packages of Debian. */
  readonly base: string | null
}

export interface BuiltImage {
  readonly file: string
  /** What a registry keeps and a node fetches. */
  readonly compressedBytes: number
  /** What it takes on a node. */
  readonly unpackedBytes: number
}

/** Where a base is kept for tests: it is another one when it has other packages. */
export const keptBase = (root: string): string =>
  path.join(
    root,
    'build/image',
    `base-${createHash('sha256').update(IMAGE.debianPackages.join()).digest('hex').slice(0, 12)}`,
  )

/** Builds `spout_VERSION_ARCHITECTURE.oci.tar`: an OCI image layout in a tar, without a daemon. Needs root. */
export async function buildImage(build: ImageBuild, directory: string): Promise<BuiltImage> {
  const { version, commit, committedAt: createdAt, epochSeconds } = build
  mkdirSync(directory, { recursive: true })
  const work = mkdtempSync(path.join(directory, 'image-'))
  try {
    const layout = path.join(work, 'layout')
    const base = await baseLayer(build.base ?? path.join(work, 'base'), epochSeconds)
    const layers = [layerBlob(layout, base), layerBlob(layout, await ownLayer(build, work))]
    const name = { repository: 'spout', tag: version, architecture: architecture(), commit, createdAt }
    writeLayout(layout, name, layers)
    settle(layout, epochSeconds)
    const file = path.join(directory, `spout_${version}_${architecture()}.oci.tar`)
    const owner = ['--owner=0', '--group=0']
    await must(['tar', ...SAME_BYTES, ...owner, '--create', '--file', file, '--directory', layout, '.'], {
      timeoutMs: 120_000,
    })
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
    return {
      file,
      compressedBytes: sum(layers.map(({ size }) => size)),
      unpackedBytes: sum(layers.map(({ unpackedBytes }) => unpackedBytes)),
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
