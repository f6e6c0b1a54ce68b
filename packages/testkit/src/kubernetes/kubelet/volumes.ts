import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '../../lab/run.ts'
import type { KubernetesApi } from '../api.ts'
import type { KeyToPath, KubernetesObject, Pod, Volume, VolumeMount, VolumeProjection } from '../objects.ts'

const TOKEN_SECONDS = 3600

/** A directory of this machine and its path in a container. */
export interface Mount {
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
  /** Whether mounts below it in the container also appear on the machine. */
  readonly isShared: boolean
}

export interface VolumePlace {
  readonly api: KubernetesApi
  readonly pod: Pod
  /** The pod's own directory; deleted with it. */
  readonly directory: string
  /** Stands for the root of the node's file system. */
  readonly hostDirectory: string
}

/**
 * Creates the volumes of a pod once: contents are those of now, tokens are not renewed. A claim is the directory of its
 * volume. Paths of the node are in a directory of the node, except shared ones, whose mounts are the machine's.
 * @throws Error naming the volume and what it waits for
 */
export async function makeVolumes(place: VolumePlace): Promise<(mounts: readonly VolumeMount[]) => readonly Mount[]> {
  const directories = new Map<string, string>()
  const { volumes = [] } = place.pod.spec
  for (const volume of volumes) {
    const made = await makeVolume(place, volume)
    directories.set(volume.name, made)
    if (volume.hostPath === undefined) await openTo(place.pod.spec.securityContext?.fsGroup, made)
  }
  const pathOf = new Map(volumes.map(({ name, hostPath }) => [name, hostPath?.path]))
  return (mounts) =>
    mounts.map(({ name, mountPath, readOnly = false, mountPropagation }) => {
      const isShared = mountPropagation === 'Bidirectional'
      const source = (isShared ? pathOf.get(name) : undefined) ?? directories.get(name)
      if (source === undefined) throw new Error(`there is no volume ${name}`)
      return { source, target: mountPath, readOnly, isShared }
    })
}

async function makeVolume(place: VolumePlace, volume: Volume): Promise<string> {
  const { name, configMap, secret, emptyDir, hostPath, persistentVolumeClaim: claim, projected } = volume
  const made = path.join(place.directory, name)
  const filled = async (sources: readonly VolumeProjection[]): Promise<string> => {
    mkdirSync(made, { recursive: true })
    for (const source of sources) await project(place, source, made)
    return made
  }
  if (configMap !== undefined) return filled([{ configMap }])
  if (secret !== undefined) return filled([{ secret: { ...secret, name: secret.secretName } }])
  if (projected !== undefined) return filled(projected.sources ?? [])
  if (emptyDir !== undefined) return filled([])
  if (hostPath !== undefined) return directoryAt(path.join(place.hostDirectory, hostPath.path))
  if (claim !== undefined) return directoryAt(await claimed(place, claim.claimName))
  throw new Error(`volume ${name} is of a kind that the test bed has not`)
}

/** Lets the pod's group read and write the pod's own directories. */
async function openTo(group: number | undefined, directory: string): Promise<void> {
  if (group === undefined) return
  await must(['chown', '--recursive', `:${group}`, directory])
  await must(['chmod', '--recursive', 'g+rwX', directory])
}

function directoryAt(where: string): string {
  mkdirSync(where, { recursive: true })
  return where
}

interface Claim extends KubernetesObject {
  readonly spec: { readonly volumeName?: string }
  readonly status?: { readonly phase?: string }
}

interface PersistentVolume extends KubernetesObject {
  readonly spec: { readonly hostPath?: { readonly path: string }; readonly local?: { readonly path: string } }
}

async function claimed({ api, pod }: VolumePlace, name: string): Promise<string> {
  const claim = await api.get<Claim>(`/api/v1/namespaces/${pod.metadata.namespace}/persistentvolumeclaims/${name}`)
  const { volumeName } = claim.spec
  if (volumeName === undefined || claim.status?.phase !== 'Bound') throw new Error(`claim ${name} is not bound`)
  const { spec } = await api.get<PersistentVolume>(`/api/v1/persistentvolumes/${volumeName}`)
  const where = spec.hostPath?.path ?? spec.local?.path
  if (where === undefined) throw new Error(`volume ${volumeName} of claim ${name} is no directory`)
  return where
}

async function project(place: VolumePlace, source: VolumeProjection, into: string): Promise<void> {
  const { serviceAccountToken, configMap, secret, downwardAPI } = source
  if (serviceAccountToken !== undefined)
    put(into, serviceAccountToken.path, await tokenOf(place, serviceAccountToken), 0o600)
  if (configMap !== undefined) await putKeys(place, 'configmaps', configMap, into, (text) => Buffer.from(text, 'utf8'))
  if (secret !== undefined) await putKeys(place, 'secrets', secret, into, (text) => Buffer.from(text, 'base64'))
  for (const { path: file, fieldRef } of downwardAPI?.items ?? []) {
    if (fieldRef?.fieldPath !== 'metadata.namespace')
      throw new Error(`${file}: the test bed knows metadata.namespace alone`)
    put(into, file, place.pod.metadata.namespace ?? '')
  }
}

async function putKeys(
  { api, pod }: VolumePlace,
  plural: 'configmaps' | 'secrets',
  { name, items, optional = false }: { name: string; items?: readonly KeyToPath[]; optional?: boolean },
  into: string,
  decode: (text: string) => Buffer,
): Promise<void> {
  const where = `/api/v1/namespaces/${pod.metadata.namespace}/${plural}/${name}`
  const { data = {} } = await api.get<{ data?: Readonly<Record<string, string>> }>(where).catch((error: unknown) => {
    if (optional) return { data: {} }
    throw error
  })
  for (const { key, path: file } of items ?? Object.keys(data).map((key) => ({ key, path: key }))) {
    const text = data[key]
    if (text !== undefined) put(into, file, decode(text))
    else if (!optional) throw new Error(`${plural} ${name} has no key ${key}`)
  }
}

/** A token bound to the pod: it ends with the pod, and names its node. */
async function tokenOf(
  { api, pod }: VolumePlace,
  { audience, expirationSeconds = TOKEN_SECONDS }: NonNullable<VolumeProjection['serviceAccountToken']>,
): Promise<string> {
  const { namespace = '', name, uid } = pod.metadata
  const { serviceAccountName: account = 'default' } = pod.spec
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid }
  const audiences = audience === undefined ? {} : { audiences: [audience] }
  const { status } = await api.request<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    { body: { spec: { ...audiences, expirationSeconds, boundObjectRef } } },
  )
  return status.token
}

function put(directory: string, file: string, content: string | Buffer, mode = 0o644): void {
  const target = path.join(directory, file)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, content, { mode })
}
