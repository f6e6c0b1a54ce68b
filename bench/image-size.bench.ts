/** The size of the image: what a registry keeps, and what it takes on a node. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sourcesOf } from '../tools/release/checkout.ts'
import { buildImage, keptBase } from '../tools/release/image/build-image.ts'
import { buildPackages } from '../tools/release/packages/build-packages.ts'
import { billOf } from '../tools/release/sbom.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MB = 250
const MEGABYTE = 1e6
const ROOT = path.resolve(import.meta.dirname, '..')
/** Not a release: only sizes count. */
const AT = { commit: '0'.repeat(40), committedAt: '2026-01-01T00:00:00Z', epochSeconds: 1_767_225_600 }

const options = benchOptions()
const directory = mkdtempSync(path.join(tmpdir(), 'spout-image-size-'))
try {
  const packages = await buildPackages({ root: ROOT, version: '0', epochSeconds: AT.epochSeconds }, directory)
  const bill = JSON.stringify(billOf(await sourcesOf(ROOT, AT)), null, 2)
  const base = options.quick ? keptBase(ROOT) : null
  const built = await buildImage({ root: ROOT, packages, version: '0', bill, ...AT, base }, directory)
  const [compressedMb, unpackedMb] = [built.compressedBytes / MEGABYTE, built.unpackedBytes / MEGABYTE]
  printRow(
    {
      name: 'image-size',
      ours: { compressedMb },
      peer: null,
      comparedWith: 'nothing',
      ratio: null,
      goal: `<= ${GOAL_MB} MB compressed`,
      pass: compressedMb <= GOAL_MB,
      detail: { unpackedMb },
    },
    options,
  )
} finally {
  rmSync(directory, { recursive: true, force: true })
}
