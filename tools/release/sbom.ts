import { createHash } from 'node:crypto'

/** A component of CycloneDX 1.5, with the fields used here. */
export interface Component {
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version?: string
  readonly purl?: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly [field: string]: unknown
}

/** A software bill of materials, CycloneDX 1.5 (ECMA-424). */
export interface Sbom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: string
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string; readonly component: Component; readonly [field: string]: unknown }
  readonly components: readonly Component[]
  readonly [field: string]: unknown
}

export interface Sources {
  /** Output of `npm sbom` for the lock file, including packages for tests. */
  readonly npm: Sbom
  readonly lockFile: LockFile
  /** Packages of Debian 12 that the image is made of, without what those need. */
  readonly debianPackages: readonly string[]
  /** Sources of the native programs by path; each is listed with its SHA-256. */
  readonly nativeSources: ReadonlyMap<string, Uint8Array>
  readonly commit: string
  /** RFC 3339. */
  readonly committedAt: string
}

/** `package-lock.json`, version 3: by path. `dev` is true for packages that only tests and tools need. */
export interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly dev?: boolean; readonly link?: boolean }>
  >
}

/** The whole bill: npm's, with the C programs and the Debian packages. The same commit gives the same text. */
export function billOf({ npm, lockFile, debianPackages, nativeSources, commit, committedAt }: Sources): Sbom {
  const shipped = shippedPackages(lockFile)
  const isOurs = ({ name, properties }: Component) => isPrivate(properties) && name !== 'testkit'
  const components = [
    ...npm.components.filter((component) => isOurs(component) || shipped.has(component.purl ?? '')),
    ...[...nativeSources].map(([file, text]) => nativeFile(file, text)),
    ...debianPackages.map(debianPackage),
  ]
  const { component, ...metadata } = npm.metadata
  const digest = createHash('sha256')
    .update(JSON.stringify([commit, components]))
    .digest('hex')
  return {
    ...npm,
    serialNumber: `urn:uuid:${uuidFrom(digest)}`,
    metadata: {
      ...metadata,
      timestamp: committedAt,
      component: { ...component, name: 'spout', type: 'application', purl: `pkg:generic/spout@${commit}` },
    },
    components,
  }
}

const isPrivate = (properties: unknown): boolean =>
  Array.isArray(properties) && properties.some(({ name }) => name === 'cdx:npm:package:private')

/**
 * Package URLs of what runs in production, from the lock file: `npm sbom --omit dev` leaves out packages that both
 * production and tests need.
 */
export const shippedPackages = ({ packages }: LockFile): ReadonlySet<string> =>
  new Set(
    Object.entries(packages).flatMap(([at, { version = '', dev, link }]) => {
      const name = at.split('node_modules/').at(-1) ?? ''
      return dev || link || name === at ? [] : [`pkg:npm/${name.replace('@', '%40')}@${version}`]
    }),
  )

const nativeFile = (file: string, text: Uint8Array): Component => ({
  'bom-ref': file,
  type: 'file',
  name: file,
  hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(text).digest('hex') }],
})

/** The version is the distribution's: security updates replace it without a release of ours. */
const debianPackage = (name: string): Component => ({
  'bom-ref': `pkg:deb/debian/${name}?distro=debian-12`,
  type: 'application',
  name,
  purl: `pkg:deb/debian/${name}?distro=debian-12`,
})

/** RFC 9562 version 8: derived from a digest. */
const uuidFrom = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
