import { createHash } from 'node:crypto'
import {
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** A descriptor of the OCI image specification. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface Layer extends Descriptor {
  /** Digest of the tar before it was compressed. */
  readonly diffId: string
  readonly unpackedBytes: number
}

const blobs = (layout: string): string => path.join(layout, 'blobs/sha256')

/** Puts a JSON document into an OCI layout. */
export function jsonBlob(layout: string, mediaType: string, document: unknown): Descriptor {
  const text = Buffer.from(JSON.stringify(document))
  const digest = createHash('sha256').update(text).digest('hex')
  mkdirSync(blobs(layout), { recursive: true })
  writeFileSync(path.join(blobs(layout), digest), text)
  return { mediaType, digest: `sha256:${digest}`, size: text.length }
}

/**
 * Compresses a tar into `FILE`, and writes what the layer is into `FILE.json`. The same bytes give the same file: gzip
 * writes no time.
 */
export async function compressedLayer(tar: string, file: string): Promise<Layer> {
  const [plain, compressed] = [createHash('sha256'), createHash('sha256')]
  await pipeline(
    createReadStream(tar),
    tapped((bytes) => plain.update(bytes)),
    createGzip({ level: 6 }),
    tapped((bytes) => compressed.update(bytes)),
    createWriteStream(file),
  )
  const layer: Layer = {
    mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
    digest: `sha256:${compressed.digest('hex')}`,
    size: statSync(file).size,
    diffId: `sha256:${plain.digest('hex')}`,
    unpackedBytes: statSync(tar).size,
  }
  writeFileSync(`${file}.json`, JSON.stringify(layer))
  return layer
}

/** Puts a compressed layer into an OCI layout. */
export function layerBlob(layout: string, file: string): Layer {
  const layer = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as Layer
  mkdirSync(blobs(layout), { recursive: true })
  copyFileSync(file, path.join(blobs(layout), layer.digest.replace('sha256:', '')), constants.COPYFILE_FICLONE)
  return layer
}

function tapped(look: (bytes: Buffer) => void): PassThrough {
  const through = new PassThrough()
  through.on('data', look)
  return through
}
