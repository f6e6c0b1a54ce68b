import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { jsonBlob, type Layer } from './blobs.ts'
import { IMAGE } from './description.ts'

export interface ImageName {
  /** Such as `spout`. */
  readonly repository: string
  readonly tag: string
  /** Debian's word for the processor, which is OCI's too. */
  readonly architecture: string
  readonly commit: string
  /** RFC 3339. */
  readonly createdAt: string
}

/**
 * Completes an OCI image layout (image-layout.md of the specification) whose layers are there. It has the file of
 * `docker save`, too, which Docker before version 25 needs.
 */
export function writeLayout(layout: string, name: ImageName, layers: readonly Layer[]): void {
  const { repository, tag, architecture, commit, createdAt } = name
  const labels = {
    'org.opencontainers.image.title': 'spout',
    'org.opencontainers.image.version': tag,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const config = jsonBlob(layout, 'application/vnd.oci.image.config.v1+json', {
    created: createdAt,
    architecture,
    os: 'linux',
    config: {
      User: `${IMAGE.user}:${IMAGE.user}`,
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      Entrypoint: IMAGE.entrypoint,
      WorkingDir: '/',
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: createdAt, created_by: 'spout' })),
  })
  const manifest = jsonBlob(layout, 'application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
    annotations: labels,
  })
  const json = (file: string, document: unknown) => writeFileSync(path.join(layout, file), JSON.stringify(document))
  json('oci-layout', { imageLayoutVersion: '1.0.0' })
  json('index.json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': `docker.io/library/${repository}:${tag}`,
          'org.opencontainers.image.ref.name': tag,
        },
      },
    ],
  })
  const blob = (digest: string) => `blobs/${digest.replace(':', '/')}`
  json('manifest.json', [
    {
      Config: blob(config.digest),
      RepoTags: [`${repository}:${tag}`],
      Layers: layers.map(({ digest }) => blob(digest)),
    },
  ])
}
