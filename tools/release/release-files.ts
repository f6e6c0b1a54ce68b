import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { type Commit, sourcesOf } from './checkout.ts'
import { buildImage } from './image/build-image.ts'
import { SAME_BYTES } from './image/own-layer.ts'
import { buildPackages } from './packages/build-packages.ts'
import { debianVersion } from './packages/version.ts'
import { billOf } from './sbom.ts'

/** Builds everything of a release into a new folder, but for its provenance and its checksums. */
export async function buildRelease(root: string, version: string, at: Commit, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const { epochSeconds } = at
  const packages = await buildPackages({ root, version: debianVersion(version), epochSeconds }, folder)
  const bill = `${JSON.stringify(billOf(await sourcesOf(root, at)), null, 2)}\n`
  writeFileSync(path.join(folder, `spout-${version}.cdx.json`), bill)
  await buildImage({ root, packages, version, bill, ...at, base: null }, folder)
  copyFileSync(path.join(root, 'deploy/kubernetes/spout.yaml'), path.join(folder, `spout-${version}.yaml`))
  await chartArchive(root, epochSeconds, folder)
  copyFileSync(path.join(root, 'CHANGELOG.md'), path.join(folder, 'CHANGELOG.md'))
}

/** The chart as `helm package` names and lays it out. */
async function chartArchive(root: string, epochSeconds: number, folder: string): Promise<void> {
  const chart = path.join(root, 'deploy/chart/spout')
  const said = readFileSync(path.join(chart, 'Chart.yaml'), 'utf8')
  const value = (key: string) => new RegExp(`^${key}: ["']?([^"'\\s]+)`, 'm').exec(said)?.[1] ?? ''
  const [name, version] = [value('name'), value('version')]
  const file = path.join(folder, `${name}-${version}.tgz`)
  const same = [...SAME_BYTES, '--owner=0', '--group=0', '--mode=u=rwX,go=rX', `--mtime=@${epochSeconds}`]
  const named = [`--transform=s,^\\.,${name},`, '--use-compress-program=gzip -n9']
  await must(['tar', ...same, ...named, '--create', '--file', file, '--directory', chart, '.'])
}

/** Writes `SHA256SUMS` over all files of a folder, as `sha256sum --check` reads it. */
export function writeChecksums(folder: string): void {
  const sums = filesOf(folder).map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(path.join(folder, file)))
      .digest('hex')
    return `${digest}  ${file}\n`
  })
  writeFileSync(path.join(folder, CHECKSUMS), sums.join(''))
}

const CHECKSUMS = 'SHA256SUMS'

/** Names of a release's files, sorted, without the checksums. */
export const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file !== CHECKSUMS)
    .sort()
