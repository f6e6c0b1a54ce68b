import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { commitOf, sourcesOf } from '../release/checkout.ts'
import { buildImage } from '../release/image/build-image.ts'
import { buildPackages } from '../release/packages/build-packages.ts'
import { commitVersion } from '../release/packages/version.ts'
import { billOf } from '../release/sbom.ts'
import { versionOf } from '../release/versions.ts'
import { outputOf } from './output-directory.ts'
import { ROOT, type Verb } from './verb.ts'

const MEGABYTE = 1e6

/** `./dev image [--out DIRECTORY]` */
export const image: Verb = {
  name: 'image',
  usage: '[--out DIRECTORY]',
  summary: 'builds the OCI image of this commit, into build/image unless told otherwise',
  details: [
    'Our Debian packages on the packages of Debian that they need, without a daemon. `docker load` and `podman load` read the file,',
    'and `skopeo copy oci-archive:FILE docker://REGISTRY/spout:TAG` brings it into a registry. As root.',
  ].join('\n'),
  async run(args) {
    const directory = outputOf(args, path.join(ROOT, 'build/image'))
    const at = await commitOf(ROOT)
    const version = versionOf(ROOT)
    const work = mkdtempSync(path.join(tmpdir(), 'spout-image-'))
    try {
      const { epochSeconds } = at
      const debian = { root: ROOT, version: commitVersion(version, at), epochSeconds }
      const packages = await buildPackages(debian, work)
      const bill = JSON.stringify(billOf(await sourcesOf(ROOT, at)), null, 2)
      const built = await buildImage({ root: ROOT, packages, version, bill, ...at, base: null }, directory)
      const mb = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`
      const sizes = `${mb(built.compressedBytes)} compressed, ${mb(built.unpackedBytes)} unpacked`
      process.stdout.write(`${path.relative(process.cwd(), built.file)}: ${sizes}\n`)
      return 0
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  },
}
